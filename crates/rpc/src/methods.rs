//! The allowlist of JSON-RPC methods, with their chains and tiers.

mod table;

use crate::networks::{Family, Network};
use table::{METHODS, NEVER};

/// A method of the allowlist; there is one value per row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct Method {
    pub name: &'static str,
    pub tier: Tier,
    pub effect: Effect,
    families: &'static [Family],
}

impl Method {
    /// Finds a method by its exact name, if this network serves it.
    pub fn parse(name: &str, network: Network) -> Result<&'static Method, Unserved> {
        if let Ok(found) = METHODS.binary_search_by(|it| it.name.cmp(name)) {
            let method = &METHODS[found];
            let is_served_here = method.families.contains(&network.family());
            return if is_served_here { Ok(method) } else { Err(Unserved::OtherFamily(method)) };
        }
        match NEVER.iter().find(|(refused, _)| *refused == name) {
            Some((_, why)) => Err(Unserved::Never(*why)),
            None => Err(Unserved::Unknown),
        }
    }
}

/// The price class of a method, by the work it takes a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tier {
    Standard,
    Advanced,
    Large,
}

impl Tier {
    /// The factor on the base credits of the chain.
    pub fn multiplier(self) -> u32 {
        match self {
            Tier::Standard => 1,
            Tier::Advanced => 2,
            Tier::Large => 4,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Tier::Standard => "Standard",
            Tier::Advanced => "Advanced",
            Tier::Large => "Large",
        }
    }
}

/// The effect of a call, which decides if it may be retried on a second node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// Changes nothing; may be sent to any node, any number of times.
    Read,
    /// Submits the signed transaction in its first parameter.
    RawTransaction,
    /// Submits something else: a user operation, or a Starknet transaction.
    Submit,
}

/// The reason why a method is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unserved {
    /// Not on the allowlist.
    Unknown,
    /// Served, but on other chains.
    OtherFamily(&'static Method),
    /// Never served, on any chain.
    Never(Never),
}

/// The reason why this proxy never serves a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Never {
    Subscription,
    StatefulFilter,
    HoldsKeys,
}

impl Never {
    /// The reason and the alternative, for the caller.
    pub fn advice(self) -> &'static str {
        match self {
            Never::Subscription => "subscriptions need a WebSocket; poll over HTTP instead",
            Never::StatefulFilter => "filters live on one node; use eth_getLogs instead",
            Never::HoldsKeys => {
                "no node here holds keys or mines; sign locally and use eth_sendRawTransaction"
            }
        }
    }
}

impl Unserved {
    /// The reason and the alternative, as words that follow the method's name.
    pub fn advice(self) -> String {
        match self {
            Unserved::Unknown => "not on the list of served methods".to_owned(),
            Unserved::OtherFamily(method) => format!("served only on {}", chains(method.families)),
            Unserved::Never(why) => why.advice().to_owned(),
        }
    }
}

/// The documentation page that lists the served methods.
#[cfg(test)]
fn page() -> String {
    format!(
        "# Methods of the JSON-RPC proxy\n\n\
         Written from the table in `crates/rpc/src/methods/table.rs`. Names are exact. A call costs \
         the base credits of its chain times the factor of its tier: 30 on zkSync Era, 20 \
         elsewhere. An error item costs 5.\n\n\
         `GET /crypto/rpc/networks` lists the networks that have nodes under `[rpc.networks]`; \
         any other network answers 503.\n\n{}",
        markdown()
    )
}

/// The whole table as markdown, for the documentation.
#[cfg(test)]
fn markdown() -> String {
    let mut page = String::from("| Method | Tier | Credits | Chains |\n|---|---|---|---|\n");
    for method in METHODS {
        let (tier, times) = (method.tier.name(), method.tier.multiplier());
        let chains = chains(method.families);
        page.push_str(&format!("| `{}` | {tier} | {times}x | {chains} |\n", method.name));
    }
    page.push_str("\n| Never served | Why |\n|---|---|\n");
    for (name, why) in NEVER {
        page.push_str(&format!("| `{name}` | {} |\n", why.advice()));
    }
    page
}

fn chains(families: &[Family]) -> String {
    if families == table::EVM {
        return "every EVM chain".to_owned();
    }
    families.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
