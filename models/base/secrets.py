"""Secrets at rest: encryption and keyed hashes, with keys derived from SECRET_KEY for each purpose."""

import base64
import hashlib
import hmac
import os

from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import ECB
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from models.base import ids

_NONCE = 12
_BLOCK = 16


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

    def disguise(self, purpose: str, id: str) -> str:
        """Return 22 characters for an id, always the same ones; they lead back to it with the key alone.

        One block of AES-256 is a permutation; there is no second block to compare it with.
        """
        _, _, number = id.partition("_")
        return _text_of(self._block(purpose).encryptor().update(ids.decode(number).to_bytes(_BLOCK)))

    def recognise(self, purpose: str, prefix: str, disguised: str) -> str:
        """Return the id that `disguise` was given; an invented text of its form gives an unknown id.

        Raises `ValueError` for a text of another form.
        """
        block = base64.b64decode(disguised.encode("ascii") + b"==", altchars=b"-_", validate=True)
        if len(block) != _BLOCK or _text_of(block) != disguised:  # or another spelling of the same bytes
            raise ValueError("not what was disguised")
        return f"{prefix}_{ids.encode(int.from_bytes(self._block(purpose).decryptor().update(block)))}"

    def _block(self, purpose: str) -> Cipher[ECB]:
        return Cipher(AES(self._key(purpose)), ECB())  # noqa: S305 - a single block, so that there is no pattern

    def keyed_hash(self, purpose: str, value: str) -> bytes:
        """HMAC-SHA256: the same value gives the same 32 bytes, and without the key no value can be tried."""
        return hmac.new(self._key(purpose), value.encode(), hashlib.sha256).digest()


def _text_of(block: bytes) -> str:
    return base64.urlsafe_b64encode(block).decode().rstrip("=")
