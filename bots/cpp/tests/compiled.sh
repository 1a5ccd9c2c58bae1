#!/bin/sh
# A launcher of the compiler, for a build that takes the kit in from its sources: the kit's objects are
# those that its own build in $KIT_BUILT has compiled of the same files. All else is compiled.
set -eu
object='' depfile='' previous=''
for word; do
    case $previous in
        -o) object=$word ;;
        -MF) depfile=$word ;;
    esac
    previous=$word
done
folder=bot_arena_kit.dir
case $object in
    *"$folder"/*)
        # The last word is the source.
        if [ -n "$depfile" ]; then echo "$object: $previous" >"$depfile"; fi
        cp "$KIT_BUILT/CMakeFiles/$folder/${object##*"$folder"/}" "$object"
        ;;
    *) exec "$@" ;;
esac
