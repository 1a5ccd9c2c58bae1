//! The registry.

use arena_store::{NewBot, StoreError};

use crate::vocabulary::{Home, on_both};

on_both!(
    a_bare_name_means_the_newest_version_that_is_left,
    a_version_is_entered_once,
    names_that_could_not_be_typed_again_are_refused,
);

fn bot(name: &str, version: &str) -> NewBot {
    NewBot {
        name: name.to_owned(),
        version: version.to_owned(),
        spec: format!("exec:./bots/{name} --\"{version}\""),
        owner: Some("O'Neil; DROP TABLE bots; --".to_owned()),
        games: vec!["othello".to_owned(), "a \"game\"".to_owned()],
    }
}

async fn a_bare_name_means_the_newest_version_that_is_left(home: &Home) {
    let store = home.open().await;
    // Neither the alphabet nor numbers say what is newest: the order of entry does.
    for version in ["2", "10", "1"] {
        store.add_bot(&bot("deep blue", version)).await.unwrap();
    }
    store.add_bot(&bot("zuse", "9")).await.unwrap();
    let meant = async |name: &str| {
        let row = store.bot(name).await.unwrap();
        row.map(|row| row.bot.version)
    };
    assert_eq!(meant("deep blue").await.as_deref(), Some("1"));
    assert_eq!(meant("deep blue@10").await.as_deref(), Some("10"));
    assert_eq!(meant("deep").await, None);
    assert_eq!(meant("deep blue@3").await, None);

    assert_eq!(store.remove_bot("deep blue@1").await.unwrap(), 1);
    assert_eq!(meant("deep blue").await.as_deref(), Some("10"));
    assert_eq!(meant("deep blue@1").await, None);
    assert_eq!(store.remove_bot("deep blue").await.unwrap(), 2);
    assert_eq!(meant("deep blue").await, None);
    let error = store.remove_bot("deep blue").await.unwrap_err();
    assert_eq!(error.to_string(), "there is no bot `deep blue`");

    let bots = home.open().await.bots().await.unwrap();
    let listed: Vec<_> = bots
        .iter()
        .map(|row| (row.bot.version.as_str(), row.retired, row.newest))
        .collect();
    assert_eq!(
        listed,
        [
            ("2", true, false),
            ("10", true, false),
            ("1", true, false),
            ("9", false, true)
        ]
    );
    assert_eq!(bots[3].bot, bot("zuse", "9"));
}

async fn a_version_is_entered_once(home: &Home) {
    let store = home.open().await;
    store.add_bot(&bot("a", "1")).await.unwrap();
    let error = store.add_bot(&bot("a", "1")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "there is a bot `a@1` already; choose another version"
    );
    store.remove_bot("a@1").await.unwrap();
    let error = store.add_bot(&bot("a", "1")).await.unwrap_err();
    assert!(matches!(error, StoreError::Exists { .. }), "{error}");
    assert_eq!(store.bots().await.unwrap().len(), 1);
}

async fn names_that_could_not_be_typed_again_are_refused(home: &Home) {
    let store = home.open().await;
    for name in ["", " a", "a\n", "a@b", &"a".repeat(201)] {
        for refused in [bot(name, "1"), bot("a", name)] {
            let error = store.add_bot(&refused).await.unwrap_err();
            assert!(
                matches!(error, StoreError::BadName { .. }),
                "{name:?}: {error}"
            );
        }
    }
    assert_eq!(store.bots().await.unwrap(), []);
    store
        .add_bot(&bot("größer 'als' \"♣\"", "1"))
        .await
        .unwrap();
    assert!(store.bot("größer 'als' \"♣\"").await.unwrap().is_some());
}
