"""Names of signals, steps and search attributes, so that nobody spells one twice."""

from temporalio.common import SearchAttributeKey

RING = "ring"

WORKSPACE_ID = SearchAttributeKey.for_keyword("WorkspaceId")
CUSTOMER_ID = SearchAttributeKey.for_keyword("CustomerId")
RUN_STATUS = SearchAttributeKey.for_keyword("RunStatus")
SEQUENCE_ID = SearchAttributeKey.for_keyword("SequenceId")
OUTREACH_ACCOUNT_ID = SearchAttributeKey.for_keyword("OutreachAccountId")

RUN_NEXT = "run.next"
RUN_READ_PAGE = "run.read_page"
RUN_READ_AHEAD = "run.read_ahead"
RUN_FETCH_PROFILES = "run.fetch_profiles"
RUN_QUEUED = "run.queued"
MAIL_NEXT = "mail.next"
MAIL_SEND = "mail.send"
UPSTREAM_CALL = "upstream.call"
JOB_NEXT = "job.next"
JOB_FETCH = "job.fetch"
CONTACTS_NEXT = "contacts.next"
CONTACTS_FIND = "contacts.find"
HOUSEKEEPING_NEXT = "housekeeping.next"
HOUSEKEEPING_DO = "housekeeping.do"
HOUSEKEEPING_READ_OPT_OUTS = "housekeeping.read_opt_outs"
DELIVERY_NEXT = "delivery.next"
DELIVERY_ATTEMPT = "delivery.attempt"
ACCOUNT_NEXT = "account.next"
ACCOUNT_CONNECT = "account.connect"
ACCOUNT_PROCESS = "account.process"
ACCOUNT_LOOK = "account.look"
ACCOUNT_READ_CHATS = "account.read_chats"
ACCOUNT_READ_INVITES = "account.read_invites"
ACCOUNT_DELETE = "account.delete"
ENROLLMENT_NEXT = "enrollment.next"
ACTION_NEXT = "action.next"
OUTREACH_SEND = "outreach.send"
OUTREACH_RECONCILE = "outreach.reconcile"
PAYMENT_NEXT = "payment.next"
PAYMENT_CALL = "payment.call"
PAYMENT_END_PLANS = "payment.end_plans"
CALLBACK_NEXT = "callback.next"
REFILL_NEXT = "refill.next"
CLIENT_NEXT = "client.next"
CLIENT_READ = "client.read"
OUTREACH_PLAN_NEXT = "outreach_plan.next"
OUTREACH_PLAN_CALL = "outreach_plan.call"
