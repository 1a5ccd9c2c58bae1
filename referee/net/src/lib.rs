//! The network side of a program that listens and dials: TLS whose files may change while
//! it runs, bounds on connections, tokens of callers, and lists of addresses that may be
//! dialled. It knows no game and no command line.

pub mod allow;
mod budget;
mod causes;
pub mod client;
pub mod dial;
mod file;
pub mod gate;
pub mod listen;
pub mod page;
mod plain;
mod reload;
pub mod site;
pub mod tls;
pub mod token;

pub use allow::{AddressPattern, AllowList, BadPattern};
pub use budget::{Budget, Budgeted};
pub use causes::{causes, with_causes};
pub use client::{HttpClient, HttpError};
pub use dial::{BadTarget, DialError, DialOptions, Target, channel, channel_through};
pub use gate::Gate;
pub use listen::{Bounds, Incoming, Peer, incoming, incoming_from, incoming_http_1};
pub use page::{PageBounds, TextPage, serve_pages};
pub use site::{BadSiteUrl, SiteUrl};
pub use tls::{
    ClientFiles, ClientTls, PeerCertificate, ServerTls, TlsError, TlsFiles, certificate_end,
};
pub use token::{Bearer, NamedTokens, Token, TokenError, TokenFile, TokenHash};
