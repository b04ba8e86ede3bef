"""What an HTTP client of plain `http` URLs needs in the place of certificates."""

import ssl
from typing import Final

NO_CERTIFICATES: Final = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
"""A context without authorities. To load their certificates would take longer than the calls themselves."""
