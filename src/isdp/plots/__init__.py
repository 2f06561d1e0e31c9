"""Pictures of noise, laws and bounds; needs the extra `plots`."""
