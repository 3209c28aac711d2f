//! Builds wallet sign-in from the configuration.

use std::sync::Arc;

use api::wallets::Wallets;
use config::sections::server::Server;
use config::sections::x402::{Cluster, X402};
use control::secrets::{SecretName, secret};
use control::service::Service;
use payments::Payments;
use wallet::{Network, SignInRules, SolanaCluster, TokenSecret};

use crate::failure::Failure;

pub(crate) async fn open(
    service: &Service,
    (server, x402): (&Server, &X402),
    public_url: &str,
    payments: Option<Payments>,
) -> Result<Arc<Wallets>, Failure> {
    let cluster = match x402.solana.cluster {
        Cluster::Mainnet => SolanaCluster::Mainnet,
        Cluster::Devnet => SolanaCluster::Devnet,
    };
    let networks = vec![Network::Evm { chain_id: x402.evm.chain_id }, Network::Solana(cluster)];
    let rules = SignInRules { domains: domains(server, public_url), networks };
    let (store, entropy) = (service.store.as_ref(), service.entropy.as_ref());
    let secret = secret(store, entropy, SecretName::Tokens).await?;
    Ok(Arc::new(Wallets::new(rules, payments, TokenSecret(secret))))
}

/// Returns the configured hosts, and the host of the public URL with its scheme.
fn domains(server: &Server, public_url: &str) -> Vec<String> {
    let (scheme, rest) = public_url.split_once("://").unwrap_or(("http", public_url));
    let host = rest.split('/').next().unwrap_or_default();
    let mut domains = server.domains.clone();
    domains.push(format!("{scheme}://{host}"));
    domains
}
