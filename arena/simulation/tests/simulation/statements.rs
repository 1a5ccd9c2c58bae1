//! Each statement of the store fails once, over the whole life of a tournament.

use arena_simulation::Beside;
use arena_store::FaultMoment;

use crate::{scenario::Scenario, seeds};

#[test]
fn a_tournament_ends_in_the_same_table_whichever_statement_of_its_store_fails() {
    let beside = Beside::start().unwrap();
    let undisturbed = Scenario::of_statement(None).check(&beside).unwrap();
    let statements = undisturbed.counts["statement"];
    assert!(statements > 100, "there are few statements: {statements}");
    let kinds = FaultMoment::ALL.len() as u64;
    let total = seeds::run_all(0..kinds * statements, |beside, number| {
        let moment = FaultMoment::ALL[(number % kinds) as usize];
        let scenario = Scenario::of_statement(Some((number / kinds, moment)));
        scenario.check(beside).unwrap().counts
    });
    // The last ones may not be reached.
    let failed = total["statement failed"];
    assert!(failed * 10 > kinds * statements * 9, "{failed} have failed");
}
