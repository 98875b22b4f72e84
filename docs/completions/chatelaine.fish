# Completion of chatelaine(1) for fish. Install as /usr/share/fish/vendor_completions.d/chatelaine.fish.
# Nothing here talks to the broker.

# Prints the verb and, for those of two words, what follows it: the words that are neither an option nor
# the value of --address.
function __chatelaine_words
    set -l skip 0
    for word in (commandline -opc)[2..-1]
        if test $skip = 1
            set skip 0
        else if test $word = --address
            set skip 1
        else if not string match -q -- '-*' $word
            echo $word
        end
    end
end

function __chatelaine_no_verb
    test (count (__chatelaine_words)) = 0
end

function __chatelaine_verb
    set -l words (__chatelaine_words)
    contains -- "$words[1]" $argv
end

# The verb, with nothing after it yet.
function __chatelaine_only
    test (count (__chatelaine_words)) = 1; and __chatelaine_verb $argv
end

function __chatelaine_policy_check
    set -l words (__chatelaine_words)
    test "$words" = 'policy check'
end

function __chatelaine_policy_explain
    set -l words (__chatelaine_words)
    test "$words" = 'policy explain'
end

complete -c chatelaine -f

complete -c chatelaine -n __chatelaine_no_verb -l address -x -d 'D-Bus address'
complete -c chatelaine -n __chatelaine_no_verb -l system -d 'The broker of the system'
complete -c chatelaine -n __chatelaine_no_verb -l user -d 'The broker of the user'
complete -c chatelaine -n __chatelaine_no_verb -l json -d 'Print JSON'
complete -c chatelaine -n __chatelaine_no_verb -l help -d 'Print the verbs and options'
complete -c chatelaine -n __chatelaine_no_verb -l version -d 'Print the version'

complete -c chatelaine -n __chatelaine_no_verb -a status -d 'Print the state'
complete -c chatelaine -n __chatelaine_no_verb -a clients -d 'Print who is connected'
complete -c chatelaine -n __chatelaine_no_verb -a groups -d 'Print what is stored where'
complete -c chatelaine -n __chatelaine_no_verb -a doctor -d 'Print what this machine gives'
complete -c chatelaine -n __chatelaine_no_verb -a secret-service -d 'Take org.freedesktop.secrets over'
complete -c chatelaine -n __chatelaine_no_verb -a get -d 'Print the secret of an item'
complete -c chatelaine -n __chatelaine_no_verb -a set -d 'Store an item'
complete -c chatelaine -n __chatelaine_no_verb -a list -d 'Print the attributes of items'
complete -c chatelaine -n __chatelaine_no_verb -a delete -d 'Delete an item'
complete -c chatelaine -n __chatelaine_no_verb -a logout -d 'Delete a service\'s items and tell its programs'
complete -c chatelaine -n __chatelaine_no_verb -a refresh -d 'Run a command that renews a secret'
complete -c chatelaine -n __chatelaine_no_verb -a lock -d 'Lock the keychain'
complete -c chatelaine -n __chatelaine_no_verb -a unlock -d 'Unlock the keychain'
complete -c chatelaine -n __chatelaine_no_verb -a passcode -d 'Set, change or remove the passcode'
complete -c chatelaine -n __chatelaine_no_verb -a recovery -d 'Make, remove or use the recovery key'
complete -c chatelaine -n __chatelaine_no_verb -a watch -d 'Print signals as they come'
complete -c chatelaine -n __chatelaine_no_verb -a import -d 'Move in from another keyring or a file'
complete -c chatelaine -n __chatelaine_no_verb -a policy -d 'Check, explain or reload the policy'

complete -c chatelaine -n '__chatelaine_only passcode' -a 'set change remove'
complete -c chatelaine -n '__chatelaine_only recovery' -a 'create remove use'
complete -c chatelaine -n '__chatelaine_verb recovery' -l discard-old -d 'Also where there is one'
complete -c chatelaine -n '__chatelaine_verb recovery' -l lose -x -d 'Agree to lose at most so many items'
complete -c chatelaine -n '__chatelaine_only import' -a 'secret-service git netrc docker'
complete -c chatelaine -n '__chatelaine_only secret-service' -a 'status on off'
complete -c chatelaine -n '__chatelaine_only policy' -a 'check explain reload'
complete -c chatelaine -n __chatelaine_policy_check -a '(__fish_complete_directories)'
complete -c chatelaine -n __chatelaine_policy_explain -a '(__fish_complete_pids)'

set -l items '__chatelaine_verb get set list delete refresh'
set -l queries '__chatelaine_verb get list delete refresh'
set -l accessibilities when-unlocked when-unlocked-this-device-only when-passcode-set-this-device-only \
    after-first-unlock after-first-unlock-this-device-only
complete -c chatelaine -n $items -l class -x -a 'generic-password internet-password' -d Class
complete -c chatelaine -n $items -l accessible -x -a "$accessibilities" -d 'When the item can be read'
complete -c chatelaine -n $items -l account -x -d Account
complete -c chatelaine -n $items -l server -x -d Server
complete -c chatelaine -n $items -l port -x -d Port
complete -c chatelaine -n $items -l protocol -x -d Protocol
complete -c chatelaine -n $items -l path -x -d 'Path on the server'
complete -c chatelaine -n $items -l security-domain -x -d 'Security domain'
complete -c chatelaine -n $items -l authentication-type -x -d 'Type of authentication'
complete -c chatelaine -n $items -l label -x -d Label
complete -c chatelaine -n $items -l description -x -d Description
complete -c chatelaine -n $items -l comment -x -d Comment
complete -c chatelaine -n $items -l generic -x -d 'Generic attribute'
complete -c chatelaine -n $items -l synchronizable -d 'Synchronizable items'
complete -c chatelaine -n $queries -a --synchronizable=any -d 'Synchronizable or not'
complete -c chatelaine -n $queries -l reference -x -d 'Persistent reference'
complete -c chatelaine -n "$items logout watch import" -l group -x -d 'Access group'
complete -c chatelaine -n "$items logout" -l service -x -d Service
complete -c chatelaine -n '__chatelaine_verb get' -l attributes-only -d 'Print the attributes, not the secret'
complete -c chatelaine -n '__chatelaine_verb set refresh' -l expires -x -d 'Delete it then'
complete -c chatelaine -n '__chatelaine_verb set refresh' -l fresh-until -x -d 'Renew it by then'
complete -c chatelaine -n '__chatelaine_verb set delete' -l if-revision -x -d 'Only at this revision'
complete -c chatelaine -n '__chatelaine_verb list' -l limit -x -d 'At most so many'
complete -c chatelaine -n '__chatelaine_verb delete' -l all -d 'Delete every match'
complete -c chatelaine -n '__chatelaine_verb logout' -l reason -x -d Why
complete -c chatelaine -n '__chatelaine_verb logout' -l force -d 'As administrator'
complete -c chatelaine -n '__chatelaine_verb refresh' -l stale -x -d 'The revision to replace'
complete -c chatelaine -n '__chatelaine_verb refresh' -l timeout -x -d 'How long to wait'
complete -c chatelaine -n '__chatelaine_verb import' -l schema -x -d 'Items of this schema'
complete -c chatelaine -n '__chatelaine_verb import' -l apply -d 'Copy'
complete -c chatelaine -n '__chatelaine_verb import' -l replace -d 'Also where another secret is there'
complete -c chatelaine -n '__chatelaine_verb import' -a --replace=newer -d 'Where the old one is newer'
complete -c chatelaine -n '__chatelaine_verb import' -l remove-old -d 'Remove the old'
