printf 'tool\tpython\t%s\n' "$(python --version 2>&1)"
# In an environment that nobody may write, pip compiles itself each time that it runs.
frozen="$(UV_NO_CACHE=1 "$ATLAS_ENV/bin/uv" pip freeze --quiet --python "$ATLAS_ENV/venv/bin/python" --exclude-editable 2>/dev/null ||
  python -m pip freeze --all --exclude-editable 2>/dev/null)"
printf 'tool\tpip\t%s\n' "$(printf '%s\n' "$frozen" | sed -n 's/^pip==//p')"
printf '%s\n' "$frozen" | sed -n '/./s/^/dependency\t/p'
exit 0
