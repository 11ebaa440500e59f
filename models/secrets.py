"""Secrets at rest: encryption and keyed hashes, with keys derived from SECRET_KEY for each purpose."""

import hashlib
import hmac
import os

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_NONCE = 12


class Vault:
    """Encrypts and hashes. A value sealed for one purpose cannot be opened for another."""

    def __init__(self, secret_key: str) -> None:
        self._root = secret_key.encode()
        self._keys: dict[str, bytes] = {}

    def _key(self, purpose: str) -> bytes:
        if purpose not in self._keys:
            self._keys[purpose] = HKDF(algorithm=SHA256(), length=32, salt=None, info=purpose.encode()).derive(
                self._root
            )
        return self._keys[purpose]

    def seal(self, purpose: str, value: bytes) -> bytes:
        """AES-256-GCM with a random nonce in front."""
        nonce = os.urandom(_NONCE)
        return nonce + AESGCM(self._key(purpose)).encrypt(nonce, value, purpose.encode())

    def open(self, purpose: str, sealed: bytes) -> bytes:
        """What `seal` was given. Raises `cryptography.exceptions.InvalidTag` for anything else."""
        return AESGCM(self._key(purpose)).decrypt(sealed[:_NONCE], sealed[_NONCE:], purpose.encode())

    def keyed_hash(self, purpose: str, value: str) -> bytes:
        """HMAC-SHA256: the same value gives the same 32 bytes, and nobody without the key can try values."""
        return hmac.new(self._key(purpose), value.encode(), hashlib.sha256).digest()
