"""Secrets at rest: encryption and keyed hashes, with keys derived from SECRET_KEY for each purpose."""

import hashlib
import hmac
import os

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
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

    def disguise(self, purpose: str, block: bytes) -> bytes:
        """16 bytes as 16 others, the same for the same: without the key like a keyed hash, with it they lead back.

        One block of AES-256 is a permutation; there is no second block to compare it with.
        """
        return self._block(purpose).encryptor().update(block)

    def recognise(self, purpose: str, disguised: bytes) -> bytes:
        """What `disguise` was given, or 16 meaningless bytes for anything else of that length."""
        return self._block(purpose).decryptor().update(disguised)

    def _block(self, purpose: str) -> Cipher[ECB]:
        return Cipher(AES(self._key(purpose)), ECB())  # noqa: S305 - a single block, so that there is no pattern

    def keyed_hash(self, purpose: str, value: str) -> bytes:
        """HMAC-SHA256: the same value gives the same 32 bytes, and without the key no value can be tried."""
        return hmac.new(self._key(purpose), value.encode(), hashlib.sha256).digest()
