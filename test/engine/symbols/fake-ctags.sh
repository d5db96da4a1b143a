#!/bin/sh
# Speaks as ctags does, and does what the content says; for tests.
echo '{"_type": "program", "name": "Fake"}'
while read -r command; do
  size=${command##*\"size\":}
  content=$(dd bs=1 count="${size%%\}*}" 2>/dev/null)
  case $content in
    *nap*) sleep 3 ;;
    *hang*) while :; do :; done ;;
    *crash*) kill -SEGV $$ ;;
    *once*) if [ -e "$1" ]; then rm "$1"; kill -SEGV $$; fi ;;
    *leave*) exit 3 ;;
    *memory*) echo '{"_type": "error", "message": "out of memory", "fatal": true}'; exit 1 ;;
    *flood*) while :; do echo '{"_type": "tag", "name": "flood", "line": 1, "kind": "function"}'; done ;;
    *long*) while :; do printf '{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{'; done ;;
    *garbage*)
      printf 'garbage\n{"_type": "tag"}\n{"_type": "tag", "name": 1, "line": "x"}\nnull\n[]\n'
      printf '{"_type": "tag", "name": "garbage", "line": 99999999999, "kind": "function"}\n'
      printf '{"_type": "tag", "name": "garbage", "line": -1, "kind": "function"}\n'
      printf '{"_type": "tag", "name": "", "line": 1, "kind": "toString"}\n' ;;
  esac
  echo '{"_type": "tag", "name": "good", "line": 1, "kind": "function"}'
  echo '{"_type": "completed", "command": "generate-tags"}'
done
