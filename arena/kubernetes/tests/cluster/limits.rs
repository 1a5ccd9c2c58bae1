//! Clusters with less room than is wanted: quotas, limits of containers, nodes that are added.

use crate::{
    run::Run,
    run_all,
    scenario::{Incident, Scenario},
    world::{Autoscaler, Quota},
};

/// Longest time until it is said what is waited for, in seconds.
const SAID_WITHIN: u64 = 30;

/// Runs until something is said of what is waited for.
fn is_said(scenario: &Scenario, says: &str) {
    let said = scenario.simulate(false, async |run: &mut Run| {
        run.start();
        let is_said = |run: &Run| run.arena.troubles().iter().any(|one| one.contains(says));
        run.until(SAID_WITHIN, is_said).await
    });
    if let Err(failure) = said {
        panic!("{says}: {}", failure.why);
    }
}

#[test]
fn referees_do_not_fill_a_quota_and_leave_nothing_to_their_bots() {
    run_all(0..20, "see the test; seed", Scenario::with_a_quota);
}

#[test]
fn referees_that_fill_a_quota_give_way_to_each_others_bots() {
    run_all(0..20, "see the test; seed", |seed| {
        let mut scenario = Scenario::with_a_quota(seed);
        // Nobody is told how much room there is, and all referees may be made at once.
        scenario.shape.hides_limits = true;
        scenario.settings.pending_referees = 24;
        scenario
    });
}

#[test]
fn games_go_on_where_a_quota_is_made_smaller() {
    run_all(0..20, "see the test; seed", |seed| {
        let mut scenario = Scenario::undisturbed(seed);
        scenario.cup.deals = 6;
        // Fewer than there are referees by then.
        let quota = Incident::Quota {
            pods: 5,
            lasts: 3_600_000,
        };
        scenario.incidents = vec![(60_000, quota)];
        scenario
    });
}

#[test]
fn referees_that_wait_for_nodes_give_way_where_none_are_added() {
    run_all(0..20, "see the test; seed", |seed| {
        let mut scenario = Scenario::with_little_room(seed);
        scenario.settings.pending_referees = 20;
        scenario
    });
}

#[test]
fn a_cluster_that_begins_without_nodes_grows_by_what_is_needed() {
    let total = run_all(0..10, "see the test; seed", |seed| {
        let mut scenario = Scenario::undisturbed(seed);
        scenario.settings.pending_referees = 6;
        scenario.shape.nodes = Vec::new();
        scenario.shape.autoscaler = Some(Autoscaler {
            room: 4,
            most: 10,
            takes: 60_000,
        });
        scenario
    });
    // Each seed adds what it has seen at most.
    assert!(total["most pods that no node took"] >= 60, "{total:?}");
}

#[test]
fn what_games_wait_for_is_said_soon() {
    let with = |quota: Quota| {
        let mut scenario = Scenario::undisturbed(1);
        scenario.shape.quota = Some(quota);
        scenario
    };
    // Others have all of it.
    let full = Quota {
        others: 8,
        ..Quota::of_pods(8)
    };
    is_said(&with(full), "wait for the ResourceQuota games: pods 8 of 8");
    is_said(&with(Quota::of_pods(2)), "pods 3, and 2 are allowed");
    let cores = Quota {
        cpu: 3000,
        ..Quota::of_pods(9)
    };
    is_said(&with(cores), "limits.cpu 3500m, and 3 are allowed");
    let mut shared = with(full);
    shared.cup.isolation = arena_tournament::Isolation::Shared;
    is_said(&shared, "waits for the ResourceQuota games: ");
    let mut limited = Scenario::undisturbed(1);
    limited.settings.bot.cpu = "16".to_owned();
    limited.shape.most_cpu = Some(8000);
    let says = "is refused: maximum cpu usage per Container is 8000m, but limit is 16000m";
    is_said(&limited, says);
    limited.settings.referee.cpu = "16".to_owned();
    is_said(&limited, says);
    let mut crowded = Scenario::undisturbed(1);
    crowded.shape.nodes = vec![1];
    is_said(&crowded, "no node takes");
}
