//! Session affinity: weighted rendezvous hashing over the session and the route.
//!
//! Each pair of a session and a route has a distance, and a session goes to the nearest route that
//! can take it. Nothing is stored, so all nodes agree, also after a restart. A route that is added
//! or lost moves only its own sessions, and each route is the nearest one of a share of the
//! sessions that is proportional to its weight.

use engine::SessionId;

/// 2^32.
const WORD_VALUES: f64 = 4_294_967_296.0;

/// Digest of a route's provider and upstream model. The position among the routes is not part of
/// it, so that routes can be reordered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct RouteDigest(u64);

impl RouteDigest {
    /// FNV-1a, which stays the same in every release: another hash would move all sessions.
    pub(super) fn new(provider: &str, model: &str) -> RouteDigest {
        // No text contains the byte 0xff, so the pairs cannot run into each other.
        let bytes = provider.bytes().chain([0xff]).chain(model.bytes());
        let add_byte =
            |hash: u64, byte: u8| (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        RouteDigest(bytes.fold(0xcbf2_9ce4_8422_2325, add_byte))
    }

    /// The distance of a session: exponentially distributed with the weight as its rate. A standby
    /// (weight 0) counts as weight 1 and is compared with other standbys only.
    pub(super) fn distance_from(self, session: SessionId, weight: u32) -> f64 {
        let bits = mix_bits(mix_bits(self.0) ^ session.0);
        -uniform_number(bits).ln() / f64::from(weight.max(1))
    }
}

/// The finaliser of SplitMix64: every bit of the input changes about half of the output's bits.
fn mix_bits(bits: u64) -> u64 {
    let bits = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

/// A number above 0 and below 1, from the upper 32 bits.
fn uniform_number(bits: u64) -> f64 {
    let word = u32::try_from(bits >> 32).unwrap_or(u32::MAX);
    (f64::from(word) + 0.5) / WORD_VALUES
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Debug, Clone, Copy)]
    struct WeightedRoute {
        digest: RouteDigest,
        weight: u32,
    }

    fn nearest_route(routes: &[WeightedRoute], session: u64) -> RouteDigest {
        let distance =
            |route: &WeightedRoute| route.digest.distance_from(SessionId(session), route.weight);
        routes.iter().min_by(|a, b| distance(a).total_cmp(&distance(b))).unwrap().digest
    }

    fn some_routes() -> impl Strategy<Value = Vec<WeightedRoute>> {
        prop::collection::btree_map("[a-z]{1,8}", 1_u32..10, 2..6).prop_map(|routes| {
            let route = |(name, weight): (String, u32)| WeightedRoute {
                digest: RouteDigest::new(&name, "m"),
                weight,
            };
            routes.into_iter().map(route).collect()
        })
    }

    #[test]
    fn digests_never_change() {
        assert_eq!(RouteDigest::new("a", "b"), RouteDigest(0xe57d_a319_03de_37b1));
        assert_ne!(RouteDigest::new("ab", "c"), RouteDigest::new("a", "bc"));
        let distance = RouteDigest::new("a", "b").distance_from(SessionId(7), 2);
        assert!((distance - 2.667608792192).abs() < 1e-9, "{distance}");
    }

    proptest! {
        // Each case of the second test counts 10,000 sessions.
        #![proptest_config(ProptestConfig::with_cases(24))]

        #[test]
        fn only_sessions_of_a_lost_route_move(
            routes in some_routes(),
            lost in any::<prop::sample::Index>(),
            sessions in prop::collection::vec(any::<u64>(), 200),
        ) {
            let mut left = routes.clone();
            let lost = left.remove(lost.index(routes.len())).digest;
            for session in sessions {
                let before = nearest_route(&routes, session);
                prop_assert!(before == lost || before == nearest_route(&left, session));
            }
        }

        #[test]
        fn sessions_are_shared_out_by_weight(routes in some_routes(), start in any::<u64>()) {
            let total: u32 = routes.iter().map(|route| route.weight).sum();
            let sessions = (0..10_000).map(|step| start.wrapping_add(step));
            let nearest: Vec<RouteDigest> =
                sessions.map(|session| nearest_route(&routes, session)).collect();
            for route in &routes {
                let count = nearest.iter().filter(|digest| **digest == route.digest).count();
                let found = f64::from(u32::try_from(count).unwrap()) / 10_000.0;
                let share = f64::from(route.weight) / f64::from(total);
                prop_assert!((found - share).abs() < 0.03, "{route:?}: {found} of {share}");
            }
        }
    }
}
