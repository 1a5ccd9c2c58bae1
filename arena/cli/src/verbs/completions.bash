
# For bash a word ends at : and =, and me=house:random is one of ours. The parts are joined, and
# what is there already is taken off what is offered.
_arena_joined() {
    local rest="$COMP_LINE" words=() cword=0 i part
    for (( i = 0; i < ${#COMP_WORDS[@]}; i++ )); do
        part="${COMP_WORDS[i]}"
        if (( i == 0 )) || [[ "$rest" == [[:space:]]* ]]; then
            words+=("")
            rest="${rest#"${rest%%[![:space:]]*}"}"
        fi
        words[${#words[@]}-1]+="$part"
        rest="${rest#"$part"}"
        if (( i == COMP_CWORD )); then
            cword=$(( ${#words[@]} - 1 ))
        fi
    done
    local cur="${words[cword]}" prev="${words[cword > 0 ? cword - 1 : 0]}" name=""
    if [[ "$cur" == [!-]*=* ]]; then
        name="${cur%%=*}="
        cur="${cur#*=}"
    fi
    local COMP_WORDS=("${words[@]}") COMP_CWORD=$cword
    COMP_WORDS[cword]="$cur"
    _arena "$1" "$cur" "$prev"
    if [[ "$cur" == *:* && "$COMP_WORDBREAKS" == *:* ]]; then
        COMPREPLY=("${COMPREPLY[@]#"${cur%"${cur##*:}"}"}")
    elif [[ -n "$name" && "$COMP_WORDBREAKS" != *=* ]]; then
        COMPREPLY=("${COMPREPLY[@]/#/$name}")
    fi
}

