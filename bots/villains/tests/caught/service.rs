//! The referee's service plays villains that listen somewhere.

use arena_proto::arena::v1::{
    Ending, FoulKind as ProtoFoul, GameEvent, GameSpec, Player, game_event::Event,
    referee_client::RefereeClient,
};
use referee::{ServeOptions, ServiceAccess};
use referee_core::{FoulKind, Record};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use crate::vocabulary::*;

#[tokio::test]
async fn the_service_plays_bots_by_their_addresses() {
    let _arena = Arena::new().await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let serve = ServeOptions {
        threads: 1,
        max_games: 1,
        grace: AMPLE,
        access: ServiceAccess::default(),
    };
    let stop = CancellationToken::new();
    let served = tokio::spawn(serve.run(listener, stop.clone()));
    let mut client = RefereeClient::connect(address).await.unwrap();

    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("bot.sock").display());
    let honest = running("honest", "tcp:127.0.0.1:0").await;
    let other = running("honest", &socket).await;
    let illegal = running("illegal", "tcp:127.0.0.1:0").await;
    for (second, foul) in [(&other, None), (&illegal, Some(FoulKind::Illegal))] {
        let spec = GameSpec {
            game_id: "a game".to_owned(),
            game: "connect_four".to_owned(),
            seed: Some(vec![1; 32].into()),
            players: [&honest, second]
                .map(|bot| Player {
                    name: bot.address.clone(),
                    address: bot.address.clone(),
                })
                .to_vec(),
            ..GameSpec::default()
        };
        let mut events = client.play_game(spec).await.unwrap().into_inner();
        let mut all = Vec::new();
        while let Some(GameEvent { event: Some(event) }) = events.message().await.unwrap() {
            all.push(event);
        }
        assert!(matches!(&all[0], Event::Started(started) if started.game_id == "a game"));
        let Some(Event::Finished(finished)) = all.pop() else {
            panic!("{all:?}");
        };
        let record = Record::parse(&finished.record).unwrap();
        assert_eq!(
            all.iter().filter(|e| matches!(e, Event::Played(_))).count(),
            points(&record, FIRST) + points(&record, SECOND)
        );
        match foul {
            None => {
                played_out(&record);
                assert_eq!(finished.ending(), Ending::Played);
            }
            Some(kind) => {
                lost_by(&record, SECOND, kind, &[]);
                assert_eq!(finished.ending(), Ending::Foul);
                assert_eq!(finished.results[1].foul(), ProtoFoul::Illegal);
            }
        }
    }
    drop(client);
    stop.cancel();
    served.await.unwrap().unwrap();
}
