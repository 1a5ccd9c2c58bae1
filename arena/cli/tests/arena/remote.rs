//! An arena that is asked by running `arena` where it is, such as in its container.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::vocabulary::*;

/// A lease of a worker that was killed runs out first.
const LONG: Duration = Duration::from_secs(150);

pub(crate) trait Remote {
    /// Runs `arena` there.
    fn arena(&self, line: &str) -> String;

    /// Latest output of all that belongs to it.
    fn log(&self) -> String;

    fn is_over(&self, name: &str) -> bool {
        let list = events(&self.arena("tournament list --format json"));
        let one = list.iter().find(|one| one["tournament"] == name);
        one.is_some_and(|one| one["state"] == "over")
    }

    fn wait_until_over(&self, name: &str) {
        let begun = Instant::now();
        while !self.is_over(name) {
            assert!(begun.elapsed() < LONG, "{name} goes on\n{}", self.log());
            sleep(Duration::from_millis(300));
        }
    }

    /// The results of all games of a tournament, by group and seating, and who was faulted for
    /// what; without what is measured.
    fn results(&self, name: &str) -> Vec<Value> {
        let mut games = of_type(
            &events(&self.arena(&format!("tournament export {name}"))),
            "game",
        );
        for game in &mut games {
            let game = game.as_object_mut().unwrap();
            for measured in [
                "thought_us",
                "finished_unix_ms",
                "counters",
                "worker",
                "record",
            ] {
                game.remove(measured);
            }
        }
        games.sort_by_key(|game| (game["group"].as_u64(), game["seating"].as_u64()));
        games
    }

    /// The table of a tournament, without thinking times.
    fn rows(&self, name: &str) -> Value {
        let status = self.arena(&format!("tournament status {name} --format json"));
        let mut rows = of_type(&events(&status), "standings")[0]["rows"].clone();
        for row in rows.as_array_mut().unwrap() {
            let row = row.as_object_mut().unwrap();
            row.remove("thinking");
            row.remove("thinking_us");
        }
        rows
    }

    /// All games are proved.
    fn is_proved(&self, name: &str) {
        let said = self.arena(&format!("tournament verify {name}"));
        assert!(said.contains("proved, "), "{said}");
    }
}
