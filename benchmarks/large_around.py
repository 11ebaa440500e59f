"""Data beside the large workspace: 10,000 small workspaces, and rows that belong to no workspace.

Statements as in `benchmarks.large_rows`. `{small}` is small workspace `n`.
"""

SMALL = 10_000

AROUND = {
    "workspaces": (
        SMALL,
        "insert into workspaces (id, name, email, email_key, marketing_opt_in, low_balance_credits, created_at)"
        " select {small}, 'Small', 'small-' || n || '@example.com', 'small-' || n || '@example.com', false, 250, {at}"
        " from numbers",
    ),
    "verifications": (
        SMALL,
        "insert into verifications (token_hash, workspace_id, created_at, expires_at, used_at)"
        " select sha256(('token' || n)::bytea), {small}, {at}, now() + interval '1 d', {at} from numbers",
    ),
    "event_clocks": (SMALL, "insert into event_clocks (workspace_id, last) select {small}, {at} from numbers"),
    "auto_refills": (
        SMALL,
        "insert into auto_refills (rings, answered, id, workspace_id, enabled, threshold_credits, monthly_cap_cents,"
        " failures, updated_at) select 1, 1, {small}, {small}, true, 100, 10000, 0, {at} from numbers",
    ),
    "billing_accounts": (
        SMALL,
        "insert into billing_accounts (workspace_id, provider_customer_id, created_at)"
        " select {small}, 'payer' || n, {at} from numbers",
    ),
    "payment_methods": (
        SMALL,
        "insert into payment_methods (id, workspace_id, attached_at) select 'card' || n, {small}, {at} from numbers",
    ),
    "payments": (
        SMALL,
        "insert into payments (rings, answered, id, workspace_id, kind, item, credits, amount_cents, status,"
        " call_number, looks, created_at, paid_at) select 1, 1, 'pay_' || {id}, {small}, 'checkout', 'pack', 1000, 100,"
        " 'paid', 1, 0, {at}, {at} from numbers",
    ),
    "plans": (
        SMALL,
        "insert into plans (id, workspace_id, payment_id, item, status, anchored_at, created_at)"
        " select 'subscription' || n, {small}, 'pay_' || {id}, 'starter', 'active', {at}, {at} from numbers",
    ),
    "outreach_plans": (
        SMALL,
        "insert into outreach_plans (rings, answered, wake_at, id, workspace_id, charged, past_due, failures,"
        " created_at) select 1, 1, now() + interval '1 d', {small}, {small}, 2, false, 0, {at} from numbers",
    ),
    "outreach_changes": (
        SMALL,
        "insert into outreach_changes (id, workspace_id, accounts, amount_cents, status, call_number, created_at,"
        " ended_at) select 'pay_c' || substr({id}, 2), {small}, 2, 6000, 'done', 1, {at}, {at} from numbers",
    ),
    "payment_callbacks": (
        SMALL,
        "insert into payment_callbacks (rings, answered, id, received_at, processed_at)"
        " select 1, 1, 'event' || n, {at}, {at} from numbers",
    ),
    "keys": (
        SMALL,
        "insert into api_keys (id, workspace_id, kind, name, prefix, last4, secret_hash, scopes, version, created_at)"
        " select 'key_' || {id}, {small}, 'key', 'Small', 'svc_live_', 'xxxx', sha256(('key' || n)::bytea), '{{}}',"
        " '2026-11-01', {at} from numbers",
    ),
    "granted_keys": (
        SMALL,
        "insert into api_keys (id, workspace_id, kind, name, prefix, last4, scopes, version, created_at)"
        " select 'key_g' || substr({id}, 2), {small}, 'oauth', 'Small', '', '', '{{}}', '2026-11-01', {at}"
        " from numbers",
    ),
    "oauth_clients": (
        SMALL,
        "insert into oauth_clients (rings, answered, id, name, redirect_uris, auth_method, grant_types, used_at,"
        " created_at) select 0, 0, 'cli_' || {id}, 'Client', '{{}}', 'none', '{{}}', {at}, {at} from numbers",
    ),
    "oauth_grants": (
        SMALL,
        "insert into oauth_grants (id, client_id, client_name, redirect_host, resource)"
        " select 'key_g' || substr({id}, 2), 'cli_' || {id}, 'Client', 'localhost', '' from numbers",
    ),
    "oauth_tokens": (
        SMALL,
        "insert into oauth_tokens (token_hash, grant_id, kind, expires_at, created_at)"
        " select sha256(('token' || n)::bytea), 'key_g' || substr({id}, 2), 'access', now() + interval '1 h', {at}"
        " from numbers",
    ),
    "oauth_sign_ins": (
        SMALL,
        "insert into oauth_sign_ins (link_hash, browser_hash, client_id, redirect_uri, code_challenge, resource,"
        " scopes, workspace_id, expires_at, grant_id, created_at) select sha256(('link' || n)::bytea),"
        " sha256(('browser' || n)::bytea), 'cli_' || {id}, 'http://localhost', '', '', '{{}}', {small},"
        " now() + interval '10 min', 'key_g' || substr({id}, 2), {at} from numbers",
    ),
    "companies": (
        SMALL,
        "insert into companies (id, name_key, details, source, fetched_at)"
        " select 'comp_' || {id}, 'company ' || n, '{{}}', 'people_data_labs', {at} from numbers",
    ),
    "company_keys": (
        SMALL,
        "insert into company_keys (kind, source, value, company_id)"
        " select 'domain', 'people_data_labs', 'company-' || n || '.example', 'comp_' || {id} from numbers",
    ),
    "cap_notices": (
        SMALL,
        "insert into cap_notices (account_id, cap, window_start, created_at)"
        " select 'acc_' || {account}, 'invites_per_day', {at}, {at} from numbers",
    ),
    "rate_windows": (
        SMALL,
        "insert into rate_windows (id, started_at, hits) select 'key_' || {id}, now(), 1 from numbers",
    ),
}
"""Statements in the order of their references, each with its number of rows at full scale."""
