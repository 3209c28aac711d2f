//! Shares blocked addresses between nodes.
//!
//! A block is published to the nodes that are subscribed, and kept in a sorted set until it ends
//! for nodes that subscribe later.

use std::net::IpAddr;

use futures_util::StreamExt;
use moment::Timestamp;
use redis::aio::PubSub;
use tokio::sync::mpsc;
use tokio::time::{sleep, timeout};

use crate::{CONNECT_MAX, PAUSE, PREFIX, RedisCounts, error_text};

/// Time to live of the set: longer than any block.
const KEPT_MS: i64 = 120_000;
/// Blocks read at most: as many as a node remembers.
const READ_MAX: isize = 100_000;

/// Called with each address that another node has blocked, and the end of the block.
pub type OnBlock = Box<dyn Fn(IpAddr, Timestamp) + Send + Sync>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct AddressBlock {
    pub(crate) address: IpAddr,
    pub(crate) until: Timestamp,
}

impl AddressBlock {
    fn to_text(self) -> String {
        format!("{} {}", self.address, self.until.ms())
    }

    fn parse(text: &str) -> Option<AddressBlock> {
        let (address, until) = text.split_once(' ')?;
        let until = Timestamp::from_ms(until.parse().ok()?);
        Some(AddressBlock { address: address.parse().ok()?, until })
    }
}

fn blocks_key() -> String {
    format!("{PREFIX}blocks")
}

impl RedisCounts {
    /// Publishes the blocks of this node to the others.
    pub(crate) async fn publish_blocks(&self, to_tell: &mut mpsc::Receiver<AddressBlock>) {
        while let Some(block) = to_tell.recv().await {
            let (key, text) = (blocks_key(), block.to_text());
            let over = block.until.ms().saturating_sub(KEPT_MS);
            let mut pipe = redis::pipe();
            pipe.zadd(&key, &text, block.until.ms()).ignore();
            pipe.zrembyscore(&key, 0, over).ignore();
            pipe.pexpire(&key, KEPT_MS).ignore();
            pipe.publish(&key, &text).ignore();
            let _: Option<()> = self.run_pipeline(&pipe).await;
        }
        std::future::pending().await
    }

    /// Reads the current blocks of other nodes, then receives new ones as they are published.
    pub(crate) async fn receive_blocks(&self, heard: &OnBlock) {
        loop {
            if let Err(cause) = self.receive_until_error(heard).await {
                tracing::debug!("blocks of other nodes are not heard: {cause}");
            }
            sleep(PAUSE).await;
        }
    }

    async fn receive_until_error(&self, heard: &OnBlock) -> Result<(), String> {
        let connected = timeout(CONNECT_MAX, self.client.get_async_pubsub()).await;
        let mut channel: PubSub =
            connected.map_err(|_| "no answer".to_owned())?.map_err(error_text)?;
        channel.subscribe(blocks_key()).await.map_err(error_text)?;
        // Read after the subscription, so that no block is missed between the two.
        let mut connection = self.connect().await?;
        let mut all = redis::cmd("ZRANGE");
        all.arg(blocks_key()).arg(0).arg(READ_MAX);
        let all: Vec<String> = all.query_async(&mut connection).await.map_err(error_text)?;
        all.iter()
            .filter_map(|text| AddressBlock::parse(text))
            .for_each(|it| heard(it.address, it.until));
        drop(connection);
        let mut messages = channel.on_message();
        while let Some(message) = messages.next().await {
            let text: String = message.get_payload().map_err(error_text)?;
            if let Some(block) = AddressBlock::parse(&text) {
                heard(block.address, block.until);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_is_read_as_it_was_written_and_nothing_else_is() {
        for address in ["203.0.113.7", "2001:db8::1"] {
            let until = Timestamp::from_ms(1_800_000_000_000);
            let block = AddressBlock { address: address.parse().unwrap(), until };
            assert_eq!(AddressBlock::parse(&block.to_text()), Some(block));
        }
        for text in ["", "203.0.113.7", "203.0.113.7 soon", "somebody 1"] {
            assert_eq!(AddressBlock::parse(text), None, "{text}");
        }
    }
}
