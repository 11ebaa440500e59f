"""The rows of the large data: an SQL statement for each table.

`n` is the row's number; `{ws}` and `{key}` are the workspace and the key to which it belongs.
"""

ID = "lpad({n}::text, 26, '0')"
"""SQL of the part of an id after its prefix."""

PEOPLE, RUNS, EVENTS = 100_000, 2_000, 1_000_000
ENROLLED, ACCOUNTS, SEQUENCES = 30_000, 20, 100
"""Every third enrollment is open."""

STATEMENTS = {
    "people": (PEOPLE, "insert into people (id, created_at) select 'prof_' || {id}, {at} from numbers"),
    "person_keys": (
        PEOPLE,
        "insert into person_keys (hash, profile_id, kind, value)"
        " select sha256(('url' || n)::bytea), 'prof_' || {id}, 'url', 'https://www.linkedin.com/in/person-' || n"
        " from numbers",
    ),
    "source_keys": (
        PEOPLE,
        "insert into person_keys (hash, profile_id, kind, source, value)"
        " select sha256(('source' || n)::bytea), 'prof_' || {id}, 'source', 'people_data_labs', 'src-' || n"
        " from numbers",
    ),
    "cached_profiles": (
        PEOPLE,
        "insert into cached_profiles (profile_id, source, content, fetched_at)"
        " select 'prof_' || {id}, 'people_data_labs', {profile}, {at} from numbers",
    ),
    "profile_copies": (
        PEOPLE,
        "insert into profile_copies (workspace_id, tenant_id, profile_id, created_at)"
        " select {ws}, {ws}, 'prof_' || {id}, {at} from numbers",
    ),
    "leads": (
        PEOPLE,
        "insert into leads (workspace_id, profile_id, created_at) select {ws}, 'prof_' || {id}, {at} from numbers",
    ),
    "seen_entries": (
        PEOPLE,
        "insert into seen_entries (workspace_id, tenant_id, profile_id, status, do_not_contact, tags, first_seen_at,"
        " run_ids, created_at) select {ws}, {ws}, 'prof_' || {id}, 'seen', false, '{{}}', {at}, '{{}}', {at}"
        " from numbers",
    ),
    "intents": (
        RUNS,
        "insert into intents (workspace_id, tenant_id, id, content, reading, created_at, updated_at)"
        " select {ws}, {ws}, 'int_' || {id}, '{intent}', '{reading}', {at}, {at} from numbers",
    ),
    "search_plans": (
        RUNS,
        "insert into search_plans (workspace_id, tenant_id, id, intent_id, content, created_at)"
        " select {ws}, {ws}, 'plan_' || {id}, 'int_' || {id}, '{{\"tiers\": []}}', {at} from numbers",
    ),
    "runs": (
        RUNS,
        "insert into runs (rings, answered, workspace_id, tenant_id, id, api_key_id, plan_id, intent_id, status,"
        " stop_reason, finish_detail, target, max_credits, mark_seen, spent_credits, spent_pages,"
        " spent_profile_fetches, reserved_credits, reserved_fetches, tier, page, page_offset, chunk_offset,"
        " call_number, failures, people_looked_at, duplicates_skipped, candidates_delivered, omitted_suppressed,"
        " tiers, created_at, started_at, finished_at)"
        " select 1, 1, {ws}, {ws}, 'run_' || {id}, {key}, 'plan_' || {id}, 'int_' || {id}, 'completed', 'finish',"
        " 'target_reached', 50, 150, true, 150, 1, 50, 0, 0, 0, 1, 0, 0, 4, 0, 60, 5, 50, 0, 1, {at}, {at}, {at}"
        " from numbers",
    ),
    "candidates": (
        PEOPLE,
        "insert into candidates (workspace_id, tenant_id, id, run_id, profile_id, position, tier, distance_km,"
        " charged_credits, content, created_at)"
        " select {ws}, {ws}, 'cand_' || {id}, 'run_' || {run}, 'prof_' || {id}, n / {runs}, 1, 4.2, 3, {profile}, {at}"
        " from numbers",
    ),
    "grants": (
        200,
        "insert into grants (id, workspace_id, source, reference, granted_credits, remaining_credits, expires_at,"
        " created_at) select 'grt_' || {id}, {ws}, 'adjustment', 'ref' || n, 100000, 100000, now() + interval '90 d',"
        " {at} from numbers",
    ),
    "grant_entries": (
        200,
        "insert into ledger_entries (id, workspace_id, kind, credits, grant_id, reference, reason, created_at)"
        " select 'led_g' || substr({id}, 2), {ws}, 'grant', 100000, 'grt_' || {id}, 'ref' || n, 'adjustment', {at}"
        " from numbers",
    ),
    "lists": (
        60,
        "insert into lists (workspace_id, tenant_id, id, name, created_at, updated_at)"
        " select {ws}, {ws}, 'list_' || {id}, 'List ' || n, {at}, {at} from numbers",
    ),
    "list_people": (
        50_000,
        "insert into list_people (workspace_id, tenant_id, list_id, profile_id, created_at, updated_at)"
        " select {ws}, {ws}, 'list_' || {list}, 'prof_' || {id}, {at}, {at} from numbers",
    ),
    "suppressions": (
        20_000,
        "insert into suppressions (id, workspace_id, key_hash, reason, created_at)"
        " select 'sup_' || {id}, {ws}, sha256(('gone' || n)::bytea), 'manual', {at} from numbers",
    ),
    "outreach_accounts": (
        ACCOUNTS,
        "insert into outreach_accounts (rings, answered, wake_at, workspace_id, tenant_id, id, name, status,"
        " provider_id, network_user_id, caps, warmup_started_at, replan_asked, holds, call_number, failures,"
        " created_at, connected_at)"
        " select 1, 1, now() + interval '1 h', {ws}, {ws}, 'acc_' || {id}, 'Sam', 'active', 'provider' || n,"
        " 'user' || n, '{{}}', now() - interval '90 d', false, '{{}}', 0, 0, now() - interval '90 d',"
        " now() - interval '90 d' from numbers",
    ),
    "sequences": (
        SEQUENCES,
        "insert into sequences (workspace_id, tenant_id, id, account_id, name, status, approve_every_message, steps,"
        " version, created_at, updated_at)"
        " select {ws}, {ws}, 'seq_' || {id}, 'acc_' || {account}, 'Sequence ' || n, 'active', false,"
        ' \'[{{"type": "invite", "id": "s_invite", "wait_days": 0, "note": "Hello"}}]\', 1, {at}, {at} from numbers',
    ),
    "enrollments": (
        ENROLLED,
        "insert into enrollments (rings, answered, wake_at, workspace_id, tenant_id, id, sequence_id, account_id,"
        " profile_id, status, given, position, current_step, next_action_at, created_at, finished_at)"
        " select 1, 1, case when n % 3 = 0 then {ahead} end, {ws}, {ws}, 'enr_' || {id}, 'seq_' || {sequence},"
        " 'acc_' || {account}, 'prof_' || {id}, case when n % 3 = 0 then 'scheduled' else 'completed' end,"
        ' \'{{"first_name": "Jo"}}\', n, 0, case when n % 3 = 0 then {ahead} end, {at},'
        " case when n % 3 > 0 then {at} end from numbers",
    ),
    "actions": (
        ENROLLED,
        "insert into actions (rings, answered, workspace_id, tenant_id, id, type, outcome, why, seed, account_id,"
        " profile_id, enrollment_id, sequence_id, step_id, step_index, first_touch, starts_sequence, text_fixed,"
        " failures, scheduled_at, claimed_at, sent_at, ended_at, attempts, call_number, readings, created_at)"
        " select 0, 0, {ws}, {ws}, 'act_' || {id}, 'invite', case when n % 3 = 0 then 'scheduled' else 'sent' end,"
        " '[]', 'seed' || n, 'acc_' || {account}, 'prof_' || {id}, 'enr_' || {id}, 'seq_' || {sequence}, 's_invite',"
        " 0, true, true, false, 0, case when n % 3 = 0 then {ahead} end, case when n % 3 > 0 then {sent} end,"
        " case when n % 3 > 0 then {sent} end, case when n % 3 > 0 then {sent} end, (n % 3 > 0)::int, 0, '[]', {at}"
        " from numbers",
    ),
    "network_people": (
        ENROLLED,
        "insert into network_people (workspace_id, tenant_id, account_id, profile_id, network_id, relation, chat_id)"
        " select {ws}, {ws}, 'acc_' || {account}, 'prof_' || {id}, 'net' || n,"
        " case when n % 3 = 1 then 'connected' else 'none' end, case when n % 3 = 1 then 'chat' || n end from numbers",
    ),
    "conversations": (
        ENROLLED // 3,
        "insert into conversations (workspace_id, tenant_id, id, account_id, profile_id, chat_id, last_message_at,"
        " last_inbound_at, created_at) select {ws}, {ws}, 'conv_' || {id}, 'acc_' || {account}, 'prof_' || {id},"
        " 'chat' || n, {at}, {at}, {at} from numbers",
    ),
    "messages": (
        ENROLLED,
        "insert into messages (workspace_id, tenant_id, id, conversation_id, account_id, profile_id, direction,"
        " sent_by, provider_id, text, sent_at, created_at)"
        " select {ws}, {ws}, 'msg_' || {id}, 'conv_' || {conversation}, 'acc_' || {account},"
        " 'prof_' || {conversation}, 'in', 'candidate', 'm' || n, 'Hello', {at}, {at} from numbers",
    ),
    "webhook_endpoints": (
        20,
        "insert into webhook_endpoints (id, workspace_id, url, events, status, generation, secret, secret_hint,"
        " created_at) select 'whe_' || {id}, {ws}, 'https://hooks.example/' || n, '{{}}', 'disabled', 1, '\\x00',"
        " 'abcd', {at} from numbers",
    ),
    "events": (
        EVENTS,
        "insert into events (workspace_id, tenant_id, id, type, data, created_at)"
        " select {ws}, {ws}, 'evt_' || {id}, (array['action.sent', 'enrollment.created', 'credits.low'])[1 + n % 3],"
        " '{{\"enrollment_id\": \"enr_1\"}}', now() - n * interval '2 s' from numbers",
    ),
    "deliveries": (
        EVENTS // 5,
        "insert into deliveries (rings, answered, workspace_id, tenant_id, id, event_id, event_type, endpoint_id,"
        " generation, status, single, made, attempts, created_at)"
        " select 1, 1, {ws}, {ws}, 'del_' || {id}, 'evt_' || {id}, 'action.sent', 'whe_' || {endpoint}, 1,"
        " 'delivered', false, 1, '[]', now() - n * interval '2 s' from numbers",
    ),
    "idempotency_records": (
        50_000,
        "insert into idempotency_records (tenant_id, key, workspace_id, fingerprint, lock, locked_until, status,"
        " body, expires_at) select {ws}, 'key' || n, {ws}, sha256(('ask' || n)::bytea), 'lock', {at}, 201, '{{}}',"
        " now() + interval '1 h' from numbers",
    ),
    "idempotency_marks": (
        50_000,
        "insert into idempotency_marks (workspace_id, tenant_id, key, mark)"
        " select {ws}, {ws}, 'key' || n, 'prof_' || {id} from numbers",
    ),
    "audit_entries": (
        20_000,
        "insert into audit_entries (workspace_id, tenant_id, id, action, data, created_at)"
        " select {ws}, {ws}, 'aud_' || {id}, 'key.created', '{{}}', {at} from numbers",
    ),
    "network_callbacks": (
        50_000,
        "insert into network_callbacks (id, event_id, type, account_id, failures, due_at, received_at, processed_at)"
        " select 'cb_' || {id}, 'event' || n, 'message_received', 'acc_' || {account}, 0, {at}, {at}, {at}"
        " from numbers",
    ),
    "daily_spends": (
        900,
        "insert into daily_spends (subject_id, day, workspace_id, credits)"
        " select {key}, current_date - n::int, {ws}, 40 from numbers",
    ),
    "customers": (
        2_000,
        "insert into customers (id, workspace_id, name, external_id, status, created_at)"
        " select 'cus_' || {id}, {ws}, 'Customer ' || n, 'c' || n, 'active', {at} from numbers",
    ),
    "search_pages": (
        20_000,
        "insert into search_pages (workspace_id, query_key, number, size, profile_ids, created_at)"
        " select {ws}, 'q_' || n, 0, 1, array['prof_' || {id}], {at} from numbers",
    ),
    "query_totals": (
        20_000,
        "insert into query_totals (query_key, total, created_at) select 'q_' || n, 100, {at} from numbers",
    ),
    "upstream_calls": (
        20_000,
        "insert into upstream_calls (workspace_id, tenant_id, id, api_key_id, idempotency_key, fingerprint, kind,"
        " status, about, until, created_at) select {ws}, {ws}, 'call_' || {id}, {key}, 'key' || n,"
        " sha256(('ask' || n)::bytea), 'fetch', 'collected', '{{}}', {at}, {at} from numbers",
    ),
    "scroll_pages": (
        10_000,
        "insert into scroll_pages (workspace_id, tenant_id, scroll_id, number, created_at)"
        " select {ws}, {ws}, 'scr_' || {id}, 0, {at} from numbers",
    ),
    "scroll_people": (
        50_000,
        "insert into scroll_people (workspace_id, tenant_id, scroll_id, number, profile_id)"
        " select {ws}, {ws}, 'scr_' || {scroll}, 0, 'prof_' || {id} from numbers",
    ),
    "jobs": (
        10_000,
        "insert into jobs (rings, answered, workspace_id, tenant_id, id, api_key_id, status, spent_credits,"
        " call_number, failures, deadline_at, created_at, finished_at, view, max_age_days, total)"
        " select 1, 1, {ws}, {ws}, 'job_' || {id}, {key}, 'completed', 3, 1, 0, {at}, {at}, {at}, 'full', 30, 10"
        " from numbers",
    ),
    "job_inputs": (
        50_000,
        "insert into job_inputs (workspace_id, tenant_id, job_id, position, url_hash, profile_id, status,"
        " charged_credits) select {ws}, {ws}, 'job_' || {job}, n, sha256(('url' || n)::bytea), 'prof_' || {id},"
        " 'found', 3 from numbers",
    ),
    "contact_lookups": (
        10_000,
        "insert into contact_lookups (rings, answered, workspace_id, tenant_id, id, api_key_id, status,"
        " spent_credits, call_number, failures, deadline_at, created_at, finished_at)"
        " select 1, 1, {ws}, {ws}, 'lkp_' || {id}, {key}, 'completed', 3, 1, 0, {at}, {at}, {at} from numbers",
    ),
    "contacts_asked": (
        50_000,
        "insert into contacts_asked (workspace_id, tenant_id, lookup_id, position, profile_id, kind, status,"
        " charged_credits) select {ws}, {ws}, 'lkp_' || {job}, n, 'prof_' || {id}, 'email', 'found', 3 from numbers",
    ),
    "contacts": (
        50_000,
        "insert into contacts (workspace_id, tenant_id, profile_id, kind, sealed, found_at)"
        " select {ws}, {ws}, 'prof_' || {id}, 'email', '\\x00', {at} from numbers",
    ),
    "mails": (
        10_000,
        "insert into mails (rings, answered, id, workspace_id, kind, attempts, sent_at, created_at)"
        " select 1, 1, 'mail_' || {id}, {ws}, 'verification', 1, {at}, {at} from numbers",
    ),
    "erasures": (
        10_000,
        "insert into erasures (id, workspace_id, profile_id, created_at)"
        " select 'era_' || {id}, {ws}, 'prof_' || {id}, {at} from numbers",
    ),
}
"""Statements, each with its number of rows at full scale."""

CHARGES = (
    PEOPLE,
    "insert into ledger_entries (id, workspace_id, kind, credits, grant_id, reference, reason, subject_id, api_key_id,"
    " created_at) select 'led_' || {id}, {ws}, 'charge', -1, 'grt_' || {grant}, 'lead:' || n, 'lead',"
    " 'run_' || {run}, {key}, {at} from numbers",
)

PROFILE = """jsonb_build_object('id', 'prof_' || lpad(n::text, 26, '0'), 'source', 'people_data_labs',
    'full_name', 'Person ' || n, 'first_name', 'Jo', 'profile_url', 'https://www.linkedin.com/in/person-' || n,
    'current', jsonb_build_object('title', 'Data Engineer', 'company', 'Company ' || n % 500),
    'experience', '[{"title": "Data Engineer", "company": "Acme", "start_date": "2019-01"}]'::jsonb,
    'skills', '["python", "sql", "airflow"]'::jsonb)"""
INTENT = '{"must": {"titles": ["Data Engineer"], "skills": ["Python"]}}'
READING = """{"read": {"fields": [], "evidence": [], "warnings": [], "ignored_fields": []}, "evidence": [],
    "applied_filters": [], "ignored_fields": [], "warnings": []}"""
