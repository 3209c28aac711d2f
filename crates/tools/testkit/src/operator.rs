//! Operator clients, and a service under another public URL.

use std::sync::Arc;

use domain::access::KeyKind;
use http_frame::settings::ApiSettings;

use crate::app::{TestApp, key_settings};
use crate::client::TestClient;
use crate::parts::build_wallets;

impl TestApp {
    /// The secret of a new OPERATOR key.
    pub async fn operator_secret(&self) -> String {
        let settings = key_settings("operator");
        self.app.keys.create(self.owner(), KeyKind::Operator, settings).await.unwrap().1
    }

    /// A client with a new OPERATOR key.
    pub async fn operator(&self) -> TestClient {
        self.anonymous().with_bearer(&self.operator_secret().await)
    }

    /// Changes the service's public URL.
    pub fn set_public_url(&mut self, public_url: &str) {
        let mut settings = self.app.settings.clone();
        settings.public_url = public_url.to_owned();
        self.rebuild(settings, Arc::clone(&self.app.wallets));
    }

    /// Turns off payments by wallets.
    pub fn refuse_payments(&mut self) {
        let settings = ApiSettings { takes_wallets: false, ..self.app.settings.clone() };
        self.rebuild(settings, Arc::new(build_wallets(None)));
    }
}
