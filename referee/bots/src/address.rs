//! Bots that run already, at an address.

use std::sync::Arc;

use referee::Address;

use crate::{Launcher, Reach, Scheme, Trust};

#[derive(Debug)]
struct AddressLauncher(Address);

pub(crate) fn scheme() -> Scheme {
    Scheme {
        prefixes: &["grpc://", "grpcs://", "tcp:", "unix:"],
        form: "grpc://HOST:PORT, grpcs://HOST:PORT, unix:PATH",
        names: Vec::new(),
        read: Box::new(|spec, _| match spec.parse() {
            Ok(address) => Ok(Arc::new(AddressLauncher(address))),
            Err(error) => Err(format!("{error}")),
        }),
    }
}

impl Launcher for AddressLauncher {
    fn default_name(&self) -> String {
        self.0.to_string()
    }

    fn trust(&self) -> Trust {
        Trust::Remote
    }

    fn reach(&self) -> Reach {
        Reach::Address(self.0.clone())
    }
}
