"""Names of signals, steps and search attributes, so that nobody spells one twice."""

from temporalio.common import SearchAttributeKey

RING = "ring"

WORKSPACE_ID = SearchAttributeKey.for_keyword("WorkspaceId")
CUSTOMER_ID = SearchAttributeKey.for_keyword("CustomerId")
RUN_STATUS = SearchAttributeKey.for_keyword("RunStatus")
SEQUENCE_ID = SearchAttributeKey.for_keyword("SequenceId")
OUTREACH_ACCOUNT_ID = SearchAttributeKey.for_keyword("OutreachAccountId")

RUN_NEXT = "run.next"
MAIL_NEXT = "mail.next"
MAIL_SEND = "mail.send"
UPSTREAM_CALL = "upstream.call"
JOB_NEXT = "job.next"
CONTACTS_NEXT = "contacts.next"
HOUSEKEEPING_NEXT = "housekeeping.next"
HOUSEKEEPING_DO = "housekeeping.do"
HOUSEKEEPING_READ_OPT_OUTS = "housekeeping.read_opt_outs"
DELIVERY_NEXT = "delivery.next"
ACCOUNT_NEXT = "account.next"
ENROLLMENT_NEXT = "enrollment.next"
ACTION_NEXT = "action.next"
PAYMENT_NEXT = "payment.next"
CALLBACK_NEXT = "callback.next"
REFILL_NEXT = "refill.next"
CLIENT_NEXT = "client.next"
CLIENT_READ = "client.read"
OUTREACH_PLAN_NEXT = "outreach_plan.next"
