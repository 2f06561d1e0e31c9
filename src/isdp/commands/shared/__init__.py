"""Parts that several commands share: tables, invariants, requests, margins of error, refusals."""
