printf 'tool\truby\t%s\n' "$(ruby --version 2>&1)"
printf 'tool\tbundler\t%s\n' "$(bundle --version 2>/dev/null | tail -n 1)"
if bundle list > /dev/null 2>&1; then
  bundle list 2>/dev/null | sed -n 's/^  \* \(.*\) (\(.*\))$/dependency\t\1==\2/p'
else
  gem list --local 2>/dev/null | sed -n 's/^\([^ ]*\) (\(.*\))$/dependency\t\1==\2/p'
fi
exit 0
