"""Domains of services that lend mailboxes for minutes, as the package `disposable-email-domains` lists them."""

from disposable_email_domains import blocklist

DISPOSABLE_DOMAINS: frozenset[str] = frozenset(blocklist)
