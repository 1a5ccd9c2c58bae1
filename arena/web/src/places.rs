//! Places that clients take and give back, so many in all and so many for each.

use std::{collections::HashMap, hash::Hash, sync::Arc};

use parking_lot::Mutex;

use crate::client::Client;

/// So many places, for clients or for others who are told apart by `K`.
#[derive(Clone)]
pub(crate) struct ClientPlaces<K = Client> {
    all: usize,
    of_one: usize,
    taken: Arc<Mutex<Taken<K>>>,
}

struct Taken<K> {
    all: usize,
    by_client: HashMap<K, usize>,
}

/// A place, as long as this is there.
pub(crate) struct ClientPlace<K: Eq + Hash = Client> {
    client: K,
    taken: Arc<Mutex<Taken<K>>>,
}

/// Reason why there is no place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NoPlace {
    /// All are taken.
    Full,
    /// The client has as many as it may.
    Enough,
}

impl<K: Copy + Eq + Hash> ClientPlaces<K> {
    pub(crate) fn new(all: usize, of_one: usize) -> Self {
        let taken = Taken {
            all: 0,
            by_client: HashMap::new(),
        };
        Self {
            all,
            of_one,
            taken: Arc::new(Mutex::new(taken)),
        }
    }

    /// Number of places.
    pub(crate) const fn all(&self) -> usize {
        self.all
    }

    pub(crate) fn take(&self, client: K) -> Result<ClientPlace<K>, NoPlace> {
        let mut taken = self.taken.lock();
        let own = taken.by_client.get(&client).copied().unwrap_or(0);
        if own >= self.of_one {
            return Err(NoPlace::Enough);
        }
        if taken.all >= self.all {
            return Err(NoPlace::Full);
        }
        taken.all += 1;
        taken.by_client.insert(client, own + 1);
        Ok(ClientPlace {
            client,
            taken: self.taken.clone(),
        })
    }
}

impl<K: Eq + Hash> Drop for ClientPlace<K> {
    fn drop(&mut self) {
        let mut taken = self.taken.lock();
        taken.all -= 1;
        if let Some(own) = taken.by_client.get_mut(&self.client) {
            *own -= 1;
            if *own == 0 {
                taken.by_client.remove(&self.client);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(number: u8) -> Client {
        Client::at([192, 0, 2, number].into())
    }

    #[test]
    fn one_client_takes_its_share_and_all_take_what_is_there() {
        let places = ClientPlaces::new(5, 2);
        let mut taken = Vec::new();
        for number in 0..3 {
            taken.push(places.take(client(number)).ok());
            taken.push(places.take(client(number)).ok());
        }
        assert_eq!(taken.iter().flatten().count(), 5);
        assert_eq!(places.take(client(0)).err(), Some(NoPlace::Enough));
        assert_eq!(places.take(client(9)).err(), Some(NoPlace::Full));
        taken.truncate(1);
        let again: Vec<_> = (1..5).map(|number| places.take(client(number))).collect();
        assert!(again.iter().all(Result::is_ok));
        drop((taken, again));
        assert!(places.taken.lock().by_client.is_empty());
        assert_eq!(places.taken.lock().all, 0);
    }
}
