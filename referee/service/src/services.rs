//! The services of a bot's server, as its reflection lists them.

use std::time::Duration;

use referee_core::Foul;
use referee_games::{GAMES, game_name};
use tonic::{Code, Status, transport::Channel};
use tonic_reflection::pb::{v1, v1alpha};

/// Longest wait for the services of a bot that does not play the game.
const WAIT: Duration = Duration::from_secs(1);

/// The messages of the two versions are the same, but their types are not.
macro_rules! list_by {
    ($version:ident, $channel:expr) => {
        async {
            use $version::{
                ServerReflectionRequest, server_reflection_client::ServerReflectionClient,
                server_reflection_request::MessageRequest,
                server_reflection_response::MessageResponse,
            };
            let request = ServerReflectionRequest {
                host: String::new(),
                message_request: Some(MessageRequest::ListServices(String::new())),
            };
            let mut client = ServerReflectionClient::new($channel.clone());
            let answers = client.server_reflection_info(tokio_stream::once(request));
            let answer = answers.await?.into_inner().message().await?;
            match answer.and_then(|answer| answer.message_response) {
                Some(MessageResponse::ListServicesResponse(list)) => {
                    let names = list.service.into_iter().map(|one| one.name);
                    Ok(names.map(Foul::evidence).collect())
                }
                _ => Err(Status::unknown("it did not list its services")),
            }
        }
    };
}

/// The services that server reflection lists, by `grpc.reflection.v1` or else by `v1alpha`.
pub(crate) async fn list_services(channel: &Channel) -> Result<Vec<String>, Status> {
    match list_by!(v1, channel).await {
        Err(status) if status.code() == Code::Unimplemented => list_by!(v1alpha, channel).await,
        listed => listed,
    }
}

/// The games that a bot plays which does not implement the service of this path, in words; none
/// where that can't be told.
pub(crate) async fn games_instead(channel: &Channel, path: &str) -> Option<String> {
    let listed = tokio::time::timeout(WAIT, list_services(channel)).await;
    let listed = listed.ok()?.ok()?;
    let serves = |path: &str| {
        let service = path.trim_start_matches('/').split('/').next();
        listed.iter().any(|one| Some(&**one) == service)
    };
    if serves(path) {
        return None;
    }
    let games = GAMES.iter().filter(|kind| serves(kind.path()));
    let games: Vec<String> = games.map(|kind| game_name(kind.info().name)).collect();
    match &games[..] {
        [] => None,
        [only] => Some(format!("it plays {only}")),
        [most @ .., last] => Some(format!("it plays {} and {last}", most.join(", "))),
    }
}
