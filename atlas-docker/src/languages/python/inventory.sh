printf 'tool\tpython\t%s\n' "$(python --version 2>&1)"
printf 'tool\tpip\t%s\n' "$(python -m pip --version 2>/dev/null | cut -d' ' -f2)"
python -m pip freeze --all --exclude-editable 2>/dev/null | sed -n '/./s/^/dependency\t/p'
exit 0
