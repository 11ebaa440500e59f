"""The network side of the sandbox: connected accounts and the invented people, in the wire format of Unipile v2."""
