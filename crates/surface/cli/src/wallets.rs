//! Builds wallet sign-in from the configuration.

use std::sync::Arc;

use config::read::ServiceConfig;
use config::sections::server::ServerConfig;
use config::sections::x402::SolanaClusterSetting;
use control::secrets::{SecretName, read_or_create_secret};
use control::service::ControlService;
use http_frame::wallets::WalletState;
use payments::PaymentService;
use wallet::{ChainNetwork, SignInRules, SolanaCluster, TokenSecret};

use crate::failure::CommandError;

pub(crate) async fn open_wallets(
    service: &ControlService,
    config: &ServiceConfig,
    public_url: &str,
    payments: Option<PaymentService>,
) -> Result<Arc<WalletState>, CommandError> {
    let cluster = match config.x402.solana.cluster {
        SolanaClusterSetting::Mainnet => SolanaCluster::Mainnet,
        SolanaClusterSetting::Devnet => SolanaCluster::Devnet,
    };
    let chain_id = config.x402.evm.chain_id;
    let networks = vec![ChainNetwork::Evm { chain_id }, ChainNetwork::Solana(cluster)];
    let domains = list_sign_in_domains(&config.server, public_url);
    let rules = SignInRules { domains, networks };
    let (store, entropy) = (service.store.as_ref(), service.entropy.as_ref());
    let secret = read_or_create_secret(store, entropy, SecretName::Tokens).await?;
    Ok(Arc::new(WalletState::new(rules, payments, TokenSecret(secret))))
}

/// Returns the configured hosts, and the host of the public URL with its scheme.
fn list_sign_in_domains(server: &ServerConfig, public_url: &str) -> Vec<String> {
    let (scheme, rest) = public_url.split_once("://").unwrap_or(("http", public_url));
    let host = rest.split('/').next().unwrap_or_default();
    let mut domains = server.domains.clone();
    domains.push(format!("{scheme}://{host}"));
    domains
}
