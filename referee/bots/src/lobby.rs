//! Bots that have dialled in and wait in the lobby of `arena serve`, each behind a socket of its
//! name.

use std::{path::PathBuf, sync::Arc};

use referee::Address;
use referee_net::NamedTokens;

use crate::{Launcher, Reach, Scheme, Trust};

/// A bot of a lobby: its name there, and its socket.
#[derive(Debug)]
struct LobbyLauncher {
    name: String,
    socket: PathBuf,
}

/// The kind of bots whose sockets are in the folder of this lobby.
#[must_use]
pub fn lobby_scheme(folder: PathBuf) -> Scheme {
    Scheme {
        prefixes: &["lobby:"],
        form: "lobby:NAME",
        names: Vec::new(),
        read: Box::new(move |spec, name| {
            if !NamedTokens::is_name(name) {
                return Err(format!(
                    "{spec}: expected lobby:NAME with a name of the file of `arena serve --lobby`"
                ));
            }
            Ok(Arc::new(LobbyLauncher {
                name: name.to_owned(),
                socket: NamedTokens::socket(&folder, name),
            }))
        }),
    }
}

impl Launcher for LobbyLauncher {
    fn default_name(&self) -> String {
        self.name.clone()
    }

    fn trust(&self) -> Trust {
        Trust::Remote
    }

    fn reach(&self) -> Reach {
        Reach::Address(Address::Unix(self.socket.clone()))
    }

    fn is_in_lobby(&self) -> bool {
        true
    }
}
