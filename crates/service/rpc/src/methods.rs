//! The allowlist of JSON-RPC methods, with their chains and tiers.

mod table;

use crate::networks::{ChainFamily, RpcNetwork};
use table::{METHODS, NEVER};

/// A method of the allowlist; there is one value per row of the table.
#[derive(Debug, PartialEq, Eq)]
pub struct RpcMethod {
    pub name: &'static str,
    pub tier: MethodTier,
    pub effect: CallEffect,
    families: &'static [ChainFamily],
}

impl RpcMethod {
    /// Finds a method by its exact name, if this network serves it.
    pub fn parse(name: &str, network: RpcNetwork) -> Result<&'static RpcMethod, UnservedReason> {
        if let Ok(found) = METHODS.binary_search_by(|it| it.name.cmp(name)) {
            let method = &METHODS[found];
            let is_served_here = method.families.contains(&network.family());
            return if is_served_here {
                Ok(method)
            } else {
                Err(UnservedReason::OtherFamily(method))
            };
        }
        match NEVER.iter().find(|(refused, _)| *refused == name) {
            Some((_, why)) => Err(UnservedReason::Never(*why)),
            None => Err(UnservedReason::Unknown),
        }
    }
}

/// The price class of a method, by the work it takes a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MethodTier {
    Standard,
    Advanced,
    Large,
}

impl MethodTier {
    /// The factor on the base credits of the chain.
    pub fn multiplier(self) -> u32 {
        match self {
            MethodTier::Standard => 1,
            MethodTier::Advanced => 2,
            MethodTier::Large => 4,
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            MethodTier::Standard => "Standard",
            MethodTier::Advanced => "Advanced",
            MethodTier::Large => "Large",
        }
    }
}

/// The effect of a call, which decides if it may be retried on a second node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallEffect {
    /// Changes nothing; may be sent to any node, any number of times.
    Read,
    /// Submits the signed transaction in its first parameter.
    RawTransaction,
    /// Submits something else: a user operation, or a Starknet transaction.
    Submit,
}

/// The reason why a method is not served.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnservedReason {
    /// Not on the allowlist.
    Unknown,
    /// Served, but on other chains.
    OtherFamily(&'static RpcMethod),
    /// Never served, on any chain.
    Never(NeverServedReason),
}

/// The reason why this proxy never serves a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NeverServedReason {
    Subscription,
    StatefulFilter,
    HoldsKeys,
}

impl NeverServedReason {
    /// The reason and the alternative, for the caller.
    pub fn advice(self) -> &'static str {
        match self {
            NeverServedReason::Subscription => {
                "subscriptions need a WebSocket; poll over HTTP instead"
            }
            NeverServedReason::StatefulFilter => {
                "filters exist on one node only; use eth_getLogs instead"
            }
            NeverServedReason::HoldsKeys => {
                "the nodes have no keys; sign locally and use eth_sendRawTransaction"
            }
        }
    }
}

impl UnservedReason {
    /// The reason and the alternative, as words that follow the method's name.
    pub fn advice(self) -> String {
        match self {
            UnservedReason::Unknown => "not on the list of served methods".to_owned(),
            UnservedReason::OtherFamily(method) => {
                format!("served only on {}", format_chains(method.families))
            }
            UnservedReason::Never(why) => why.advice().to_owned(),
        }
    }
}

/// The documentation page that lists the served methods.
#[cfg(test)]
fn render_page() -> String {
    format!(
        "# Methods of the JSON-RPC proxy\n\n\
         Written from the table in `crates/service/rpc/src/methods/table.rs`. Names are exact. A call costs \
         the base credits of its chain times the factor of its tier: 30 on zkSync Era, 20 \
         elsewhere. An error item costs 5.\n\n\
         `GET /crypto/rpc/networks` lists the networks that have nodes under `[rpc.networks]`; \
         any other network answers 503.\n\n{}",
        render_method_table()
    )
}

/// The whole table as markdown, for the documentation.
#[cfg(test)]
fn render_method_table() -> String {
    let mut page = String::from("| Method | Tier | Credits | Chains |\n|---|---|---|---|\n");
    for method in METHODS {
        let (tier, times) = (method.tier.name(), method.tier.multiplier());
        let chains = format_chains(method.families);
        page.push_str(&format!("| `{}` | {tier} | {times}x | {chains} |\n", method.name));
    }
    page.push_str("\n| Never served | Why |\n|---|---|\n");
    for (name, why) in NEVER {
        page.push_str(&format!("| `{name}` | {} |\n", why.advice()));
    }
    page
}

fn format_chains(families: &[ChainFamily]) -> String {
    if families == table::EVM {
        return "every EVM chain".to_owned();
    }
    families.iter().map(|it| it.name()).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests;
