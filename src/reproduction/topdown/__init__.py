"""TopDown on the published 2010 counts."""
