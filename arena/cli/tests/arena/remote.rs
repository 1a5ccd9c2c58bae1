//! An arena that is asked by running `arena` where it is, such as in its container.

use std::{
    thread::sleep,
    time::{Duration, Instant},
};

use serde_json::Value;

use crate::vocabulary::*;

/// So long nothing happens at most: a lease of a worker that was killed runs out first. How long a
/// whole tournament takes says more of the machine than of us.
const LONG: Duration = Duration::from_secs(150);

pub(crate) trait Remote {
    /// Runs `arena` there.
    fn arena(&self, line: &str) -> String;

    /// Latest output of all that belongs to it.
    fn log(&self) -> String;

    /// The tournament as it is listed: its state, and how many games it has.
    fn listed(&self, name: &str) -> Value {
        let list = events(&self.arena("tournament list --format json"));
        let one = list.into_iter().find(|one| one["tournament"] == name);
        one.unwrap_or_default()
    }

    fn is_over(&self, name: &str) -> bool {
        self.listed(name)["state"] == "over"
    }

    fn wait_until_over(&self, name: &str) {
        let (mut before, mut since) = (Value::Null, Instant::now());
        loop {
            let now = self.listed(name);
            if now["state"] == "over" {
                return;
            }
            if now != before {
                (before, since) = (now, Instant::now());
            }
            assert!(since.elapsed() < LONG, "{before} goes on\n{}", self.log());
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
