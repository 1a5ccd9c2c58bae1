//! The removal of everything that has been made, as before its namespace is deleted.

use std::time::Duration;

use crate::{
    run::Run,
    scenario::Scenario,
    world::{Rates, World},
};

/// A cluster in which many pods fail.
fn failing(seed: u64) -> Scenario {
    let mut scenario = Scenario::undisturbed(seed);
    scenario.cup.deals = 100;
    scenario.shape.rates = Rates {
        crash: 600,
        ..Rates::default()
    };
    scenario.calm = u64::MAX / 2;
    scenario
}

/// True if a pod that failed is kept by its Job.
fn keeps_one(world: &World) -> bool {
    world
        .pods
        .values()
        .any(|pod| pod.has_ended() && pod.finalizer)
}

/// Plays until a pod that failed is kept, and goes on with what follows.
fn after_a_failure(seed: u64, then: impl AsyncFnOnce(&mut Run) -> Result<u64, String>) {
    let done = failing(seed).simulate(false, async |run: &mut Run| {
        run.start();
        run.add_strangers();
        run.until(600, |run| keeps_one(&run.api.world())).await?;
        then(run).await
    });
    if let Err(failure) = done {
        panic!("{}", failure.why);
    }
}

#[test]
fn a_namespace_that_is_deleted_keeps_pods_while_their_jobs_are_there() {
    after_a_failure(3, async |run| {
        run.api.world().delete_namespace();
        let is_empty = run.until(600, Run::is_empty).await;
        match is_empty {
            Ok(at) => Err(format!("everything is gone at {at}")),
            Err(_) => Ok(0),
        }
    });
}

#[test]
fn everything_is_removed_and_what_others_have_is_left() {
    for seed in 0..10 {
        after_a_failure(seed, async |run| {
            let removed = run.remove_all(Duration::from_secs(90)).await?;
            if removed.jobs == 0 || removed.pods == 0 || !removed.left.is_empty() {
                return Err(format!("{removed:?}"));
            }
            let strangers = run.api.world().jobs.len();
            if !run.is_empty() || strangers != 1 {
                return Err(format!("{strangers} Jobs are there"));
            }
            // Now nothing keeps the namespace.
            run.api.world().delete_namespace();
            run.until(60, Run::is_empty).await
        });
    }
}

#[test]
fn what_is_left_when_time_is_up_is_said_with_what_keeps_it() {
    after_a_failure(3, async |run| {
        // It is about to go.
        let within = Duration::from_millis(1);
        let removed = run.remove_all(within).await?;
        let says = "(finalizers: batch.kubernetes.io/job-tracking)";
        match removed.left.iter().any(|one| one.ends_with(says)) {
            true => Ok(0),
            false => Err(format!("{removed:?}")),
        }
    });
}
