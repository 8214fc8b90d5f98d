# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
# Completion of assayctl for bash: source this file, or install it as /usr/share/bash-completion/completions/assayctl.
# tests/integration/cli compares it with the program's own help.

_assayctl_options() { # COMMAND: its options
    local common="--json --url --profile --ca --fingerprint --help"
    case $1 in
    "skill validate") echo "--name --copy-links $common" ;;
    "skill publish") echo "--name --note --if-match --create --copy-links $common" ;;
    "skill import") echo "--dry-run --copy-links $common" ;;
    "skill list") echo "--search --state --enabled --limit $common" ;;
    "skill show") echo "--revision $common" ;;
    "skill history") echo "--limit --promotions --at $common" ;;
    "skill diff") echo "--context --ignore-whitespace --path --color $common" ;;
    "agent list" | "stop list") echo "--limit $common" ;;
    "skill promote" | "proposal promote") echo "--if-match --reason $common" ;;
    "skill withdraw" | "skill stop" | "proposal withdraw" | "stop add") echo "--reason $common" ;;
    "skill compare") echo "--sample --script --arg --input --stdin --wait $common" ;;
    "sample save") echo "--script --arg --input --stdin --expect-exit --expect-output $common" ;;
    "proposal list") echo "--state --skill --publisher --limit $common" ;;
    "proposal comment") echo "--path --side --line --reply-to --draft $common" ;;
    "proposal approve" | "proposal request-changes") echo "--comment --digest --if-match $common" ;;
    "proposal acknowledge") echo "--base $common" ;;
    "proposal resolve") echo "--reopen $common" ;;
    "scope set") echo "--promotion --require --require-none --approvals --keep $common" ;;
    "skill export") echo "--revision --format --output --force $common" ;;
    "agent create") echo "--skill --subagent --environment --execution --egress --allow --egress-bytes --file --replace $common" ;;
    "run") echo "--revision --agent --subagent --session --input --stdin --output --driver --env --timeout --memory --output-limit --output-mode --egress --allow --quiet $common" ;;
    "exec") echo "--shell --stdin --cwd --timeout $common" ;;
    "runs list") echo "--state --agent --skill --since --limit $common" ;;
    "artifact get") echo "--output --force $common" ;;
    "audit list") echo "--decision --operation --actor --run --since --until --ledger --limit $common" ;;
    "audit export") echo "--decision --operation --actor --run --since --until --ledger --output --force $common" ;;
    "audit verify") echo "--key --partial --ledger $common" ;;
    "serve") echo "--data --listen $common" ;;
    "token create") echo "--data --scope --role --principal --name --expires $common" ;;
    "token list") echo "--limit $common" ;;
    "base build" | "base list" | "backup") echo "--data $common" ;;
    "store cutover") echo "--data --to --root --accept-lost --finish $common" ;;
    "collect") echo "--dry-run $common" ;;
    "health") echo "--handshake $common" ;;
    "digest") echo "--copy-links $common" ;;
    *) echo "$common" ;;
    esac
}

_assayctl_names() { # LIST-COMMAND FIELD: what the server has; nothing without one
    # shellcheck disable=SC2086 # the command is two words
    timeout 2 assayctl $1 --json --limit 200 2>/dev/null | sed -n 's/^      "'"$2"'": "\([a-z0-9A-Z_-]*\)".*/\1/p'
}

_assayctl() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD - 1]} first="" second="" index
    COMPREPLY=()
    for ((index = 1; index < COMP_CWORD; ++index)); do
        case ${COMP_WORDS[index]} in
        -*) ;;
        *)
            if [ -z "$first" ]; then
                first=${COMP_WORDS[index]}
            elif [ -z "$second" ]; then
                second=${COMP_WORDS[index]}
            fi
            ;;
        esac
    done
    case $before in
    --profile | --ca | --input | --stdin | --expect-output | --file | --output | -o | --data) mapfile -t COMPREPLY < <(compgen -f -- "$word"); return ;;
    --role) mapfile -t COMPREPLY < <(compgen -W "viewer builder reviewer runner operator" -- "$word"); return ;;
    --color) mapfile -t COMPREPLY < <(compgen -W "auto always never" -- "$word"); return ;;
    --format) mapfile -t COMPREPLY < <(compgen -W "tar.gz zip" -- "$word"); return ;;
    --side) mapfile -t COMPREPLY < <(compgen -W "new old" -- "$word"); return ;;
    --promotion) mapfile -t COMPREPLY < <(compgen -W "automatic reviewed" -- "$word"); return ;;
    --require) mapfile -t COMPREPLY < <(compgen -W "package_valid lints capabilities_reviewed test_run" -- "$word"); return ;;
    --output-mode) mapfile -t COMPREPLY < <(compgen -W "truncate terminate" -- "$word"); return ;;
    --decision) mapfile -t COMPREPLY < <(compgen -W "allowed refused executed terminated outcome_unknown" -- "$word"); return ;;
    --ledger) mapfile -t COMPREPLY < <(compgen -W "scope server" -- "$word"); return ;;
    --egress) mapfile -t COMPREPLY < <(compgen -W "none default_internet allowlist" -- "$word"); return ;;
    --skill) mapfile -t COMPREPLY < <(compgen -W "$(_assayctl_names "skill list" name)" -- "$word"); return ;;
    --agent) mapfile -t COMPREPLY < <(compgen -W "$(_assayctl_names "agent list" name)" -- "$word"); return ;;
    esac
    local words
    case "$first $second" in
    " ") words="skill proposal sample agent run exec finish runs artifact audit health digest serve token scope stop base backup collect store" ;;
    "skill ") words="validate publish import list show history diff capabilities promote withdraw stop compare export delete" ;;
    "proposal ") words="list show comment resolve acknowledge test approve request-changes retract promote withdraw" ;;
    "sample ") words="list save delete" ;;
    "scope ") words="show set" ;;
    "stop ") words="add list lift" ;;
    "agent ") words="create list show delete" ;;
    "runs ") words="list show manifest events cancel" ;;
    "artifact ") words="get" ;;
    "audit ") words="list verify export" ;;
    "token ") words="create list revoke" ;;
    "base ") words="build list" ;;
    "store ") words="cutover" ;;
    "run ") words=$(_assayctl_names "skill list" name) ;;
    "exec " | "finish " | "runs show" | "runs manifest" | "runs events" | "runs cancel") words=$(_assayctl_names "runs list" id) ;;
    "skill show" | "skill history" | "skill diff" | "skill capabilities" | "skill promote" | "skill withdraw" | "skill stop" | "skill compare" | "skill export" | "skill delete" | "sample list" | "sample save" | "sample delete")
        words=$(_assayctl_names "skill list" name)
        ;;
    "proposal show" | "proposal comment" | "proposal resolve" | "proposal acknowledge" | "proposal test" | "proposal approve" | "proposal request-changes" | "proposal retract" | "proposal promote" | "proposal withdraw")
        words=$(_assayctl_names "proposal list" id)
        ;;
    "agent show" | "agent delete") words=$(_assayctl_names "agent list" name) ;;
    esac
    if [[ $word == -* ]]; then
        case $first in
        skill | proposal | sample | agent | runs | artifact | audit | token | scope | stop | base | store) words=$(_assayctl_options "$first $second") ;;
        *) words=$(_assayctl_options "$first") ;;
        esac
    fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$word")
    case "$first $second" in
    "skill validate" | "skill publish" | "skill import" | "digest " | "backup " | "audit verify") [[ $word == -* ]] || mapfile -t COMPREPLY < <(compgen -f -- "$word") ;;
    esac
}
complete -o filenames -F _assayctl assayctl
