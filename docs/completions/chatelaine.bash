# Completion of chatelaine(1) for bash. Install as /usr/share/bash-completion/completions/chatelaine.
# Nothing here talks to the broker.

# Sets verb and subverb: the first word after the global options, and the one after that. Bash makes words
# of their own of equals signs and colons, as they stand in addresses.
_chatelaine_verb() {
    local index word
    verb='' subverb=''
    for ((index = 1; index < COMP_CWORD; index++)); do
        word=${COMP_WORDS[index]}
        case $verb,$word in
            ,--address)
                [[ ${COMP_WORDS[index + 1]} == = ]] && ((index++))
                ((index++))
                ;;
            ,= | ,:) ((index++)) ;;
            ,-*) ;;
            ,*) verb=$word ;;
            *,-*) return ;;
            *) subverb=$word; return ;;
        esac
    done
}

# The options of a verb.
_chatelaine_options() {
    local key='--class --service --account --server --port --protocol --path --security-domain
        --authentication-type --group --accessible --label --description --comment --generic
        --synchronizable'
    local query="$key --synchronizable=any --reference"
    case $1 in
        get) echo "$query --attributes-only" ;;
        set) echo "$key --expires --fresh-until --if-revision" ;;
        list) echo "$query --limit" ;;
        delete) echo "$query --all --if-revision" ;;
        logout) echo '--group --service --reason --force' ;;
        refresh) echo "$query --expires --fresh-until --stale --timeout" ;;
        watch) echo '--group' ;;
        recovery) [[ $2 == create ]] && echo '--discard-old' || echo '--lose' ;;
        import) echo '--group --schema --apply --replace --replace=newer --remove-old' ;;
    esac
}

_chatelaine() {
    local verb subverb cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=''
    local equals=''
    _chatelaine_verb
    if [[ $cur == = ]]; then
        cur='' equals=1
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD - 2]} equals=1
    fi
    case $prev$equals in
        --class | --class1) words='generic-password internet-password' ;;
        --accessible | --accessible1)
            words='when-unlocked when-unlocked-this-device-only when-passcode-set-this-device-only
                after-first-unlock after-first-unlock-this-device-only'
            ;;
        --synchronizable1) words='any' ;;
        --replace1) words='newer' ;;
        *1) return ;;
        --address | --service | --account | --server | --port | --protocol | --path | --security-domain | \
            --authentication-type | --group | --label | --description | --comment | --generic | \
            --reference | --expires | --fresh-until | --limit | --if-revision | --reason | --stale | --timeout | \
            --schema | --lose)
            return
            ;;
        *)
            case $verb,$subverb in
                ,) words='--address --system --user --json --help --version status clients groups doctor get
                    set list delete logout refresh lock unlock passcode recovery
                    secret-service watch import policy' ;;
                passcode,) words='set change remove' ;;
                recovery,) words='create remove use' ;;
                recovery,remove) ;;
                secret-service,) words='status on off' ;;
                policy,) words='check explain reload' ;;
                import,) words='secret-service git netrc docker' ;;
                import,git | import,netrc | import,docker)
                    if [[ $cur != -* ]]; then
                        compopt -o filenames 2> /dev/null
                        mapfile -t COMPREPLY < <(compgen -f -- "$cur")
                        return
                    fi
                    words=$(_chatelaine_options import)
                    ;;
                policy,check)
                    compopt -o filenames 2> /dev/null
                    mapfile -t COMPREPLY < <(compgen -d -- "$cur")
                    return
                    ;;
                policy,explain)
                    [[ $prev == explain ]] && words=$(compgen -G '/proc/[0-9]*' | sed 's,.*/,,')
                    ;;
                *) words=$(_chatelaine_options "$verb" "$subverb") ;;
            esac
            ;;
    esac
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$cur")
}

complete -F _chatelaine chatelaine
