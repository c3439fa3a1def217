//! Attacks on the sandbox for commands. A program without a test harness, because the sandbox helper is this same
//! program re-executed, which a harness with threads could not be.
#![expect(clippy::expect_used, clippy::print_stdout, reason = "a test program without a harness")]
#![expect(clippy::disallowed_methods, reason = "tests make the trees of agents by hand")]

mod closed;
mod corpus;
mod fixture;
mod isolation;
mod layers;
mod limits;
mod lives;
mod reach;
mod ways;

use std::collections::BTreeMap;
use std::path::Path;

use fixture::Fixture;
use sandbox::HelperExe;

fn main() {
    let helper_exe = HelperExe::enter();
    if let Some(ws) = std::env::var_os("CONFINE_WS") {
        return lives::to_be_killed(helper_exe, Path::new(&ws));
    }
    let words: Vec<String> = std::env::args().skip(1).collect();
    let said = |word: &str| words.iter().any(|said| said == word);
    if said("--list") {
        // Test runners ask for the list first, and then for the ignored tests, of which there are none.
        let names = tests().into_keys().filter(|_| !said("--ignored"));
        names.for_each(|name| println!("{name}: test"));
        return;
    }
    let wanted = words.iter().find(|word| !word.starts_with('-')).cloned().unwrap_or_default();
    let fits = |name: &str| if said("--exact") { name == wanted } else { name.contains(&wanted) };
    let runtime = tokio::runtime::Runtime::new().expect("a runtime");
    let mut failed = 0;
    for (name, test) in tests().into_iter().filter(|(name, _)| fits(name)) {
        let fixture = Fixture::new(helper_exe.clone());
        let run = std::panic::AssertUnwindSafe(|| runtime.block_on(test(fixture)));
        let passed = std::panic::catch_unwind(run).is_ok();
        println!("test {name} ... {}", if passed { "ok" } else { "FAILED" });
        failed += i32::from(!passed);
    }
    // Helpers of interrupted commands may still be exiting; do not wait for blocked threads.
    runtime.shutdown_background();
    assert_eq!(failed, 0, "{failed} tests failed");
}

type Test = fn(Fixture) -> std::pin::Pin<Box<dyn Future<Output = ()>>>;

macro_rules! all {
    ($($name:path),* $(,)?) => {
        fn tests() -> BTreeMap<&'static str, Test> {
            BTreeMap::from([$((stringify!($name), (|fixture| Box::pin($name(fixture))) as Test)),*])
        }
    };
}

all![
    reach::keys_are_out_of_reach_of_commands_and_tools,
    reach::settings_are_as_they_were_after_a_command,
    reach::settings_are_as_they_were_also_without_a_sandbox,
    reach::settings_below_names_that_are_no_paths_are_removed,
    reach::a_file_with_rules_is_closed_wherever_it_is,
    reach::passwords_in_the_settings_of_repositories_are_hidden,
    reach::no_command_leaves_a_repository_that_runs_something,
    reach::a_file_that_the_plan_names_may_be_written,
    reach::keys_are_neither_replaced_nor_planted,
    reach::what_git_knows_is_not_taken_away,
    reach::without_namespaces_a_command_beside_keys_is_not_run,
    corpus::nothing_gets_out_of_the_namespaces,
    corpus::nothing_that_landlock_claims_gets_out_of_it,
    corpus::all_of_it_holds_for_an_ordinary_user_too,
    ways::a_server_in_the_background_is_reached_by_later_commands,
    ways::only_granted_hosts_are_reached,
    ways::toolchains_work_inside,
    isolation::a_hidden_file_is_empty_for_commands_and_closed_to_tools,
    isolation::the_proof_holds,
    layers::commands_see_a_stack_as_one_folder_and_write_only_on_top,
    layers::commands_at_the_same_path_do_not_meet,
    layers::a_commit_is_its_difference_above_another,
    layers::only_ignored_files_of_a_build_are_kept,
    isolation::a_command_runs_with_its_folder_output_and_exit_code,
    isolation::the_workspace_is_writable_and_nothing_else_is,
    isolation::what_is_outside_cannot_be_read,
    isolation::there_is_no_network_but_the_own_loopback,
    isolation::git_files_can_neither_be_changed_nor_moved,
    isolation::only_the_scope_is_writable_when_there_is_one,
    isolation::who_would_replace_a_single_file_hears_what_works_instead,
    isolation::a_single_file_is_replaced_and_what_is_beside_it_stays,
    isolation::a_link_in_the_scope_opens_nothing,
    closed::a_closed_place_is_written_to_only_where_it_is_open_again,
    closed::a_scope_around_a_closed_place_does_not_open_it,
    isolation::git_works_in_a_worktree_but_cannot_change_the_repository,
    isolation::git_sees_the_history_of_a_commit_alone_also_without_namespaces,
    isolation::every_rule_for_environments_is_kept,
    isolation::dangerous_calls_are_denied,
    isolation::a_link_cannot_be_used_to_start_elsewhere,
    limits::commands_give_way_to_other_programs,
    limits::the_limits_are_proved,
    limits::other_numberings_of_system_calls_are_refused,
    limits::a_service_of_the_machine_is_not_reached_through_the_workspace,
    limits::sockets_of_the_command_itself_work,
    limits::memory_of_all_processes_together_is_limited,
    limits::shared_memory_is_limited_and_counted_once,
    limits::processes_are_limited_for_root_too,
    limits::what_a_command_writes_is_limited_in_total,
    limits::temporary_folders_share_one_limit,
    lives::nothing_is_left_running,
    lives::time_is_up_for_commands_that_ignore_it,
    lives::a_stop_reaches_everything_inside,
    lives::a_dropped_call_leaves_nothing,
    lives::our_own_death_takes_everything_with_it,
    lives::our_processes_can_be_neither_seen_nor_signalled,
    lives::processes_are_limited,
    lives::large_files_are_limited,
    lives::a_temporary_file_is_private_to_its_command,
    lives::no_descriptor_or_variable_of_ours_leaks,
];
