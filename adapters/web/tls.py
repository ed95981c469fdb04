"""Whom to trust, and what went wrong with a certificate, in words."""

import os
import ssl
from typing import Final

import certifi

_WORDS: Final = {
    9: "the certificate is not valid yet",
    10: "the certificate has expired",
    18: "the certificate is signed by itself",
    19: "the certificate's chain ends at one that is signed by itself and not trusted",
    20: "the certificate's issuer is unknown",
    21: "the certificate's issuer is unknown",
    23: "the certificate was revoked",
    62: "the certificate is for another name",
    64: "the certificate is for another address",
}


def trusting() -> ssl.SSLContext:
    """Verifies names and chains, TLS 1.2 and later. Raises OSError where the trusted certificates cannot be read.

    Trusted are those of `SSL_CERT_FILE` and `SSL_CERT_DIR` where they are set, else the system's and certifi's.
    """
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    file, directory = os.environ.get("SSL_CERT_FILE"), os.environ.get("SSL_CERT_DIR")
    if file or directory:
        context.load_verify_locations(file or None, directory or None)
    else:
        context.load_default_certs()
        context.load_verify_locations(certifi.where())
    return context


def certificate_words(error: ssl.SSLCertVerificationError) -> str:
    return _WORDS.get(error.verify_code, f"the certificate does not verify (OpenSSL code {error.verify_code})")


def handshake_words(error: ssl.SSLError) -> str:
    """OpenSSL's name for what went wrong: a constant, nothing of what was said."""
    reason = (error.reason or "unknown reason").replace("_", " ").lower()
    return f"no TLS connection: {reason}"
