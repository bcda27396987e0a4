"""Atlas within harnesses that exist: `swe_atlas.compat.swebench`."""
