"""Holds a running double against Stripe's own SDK:

pip install stripe==16.1.0 && cargo run -p stripe-double & python sdk_check.py URL
"""

import http.server
import sys
import threading
import time
import urllib.parse
import urllib.request

import stripe

URL = sys.argv[1]
SECRET = "whsec_check"


def control(path, **form):
    body = urllib.parse.urlencode(form).encode()
    urllib.request.urlopen(f"{URL}/_double/{path}", body).read()


class Receiver(http.server.BaseHTTPRequestHandler):
    events = []

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        event = stripe.Webhook.construct_event(body, self.headers["Stripe-Signature"], SECRET)
        Receiver.events.append(event)
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_):
        pass


receiver = http.server.HTTPServer(("127.0.0.1", 0), Receiver)
threading.Thread(target=receiver.serve_forever, daemon=True).start()
control("webhooks", url=f"http://127.0.0.1:{receiver.server_port}/", secret=SECRET)

client = stripe.StripeClient("sk_test_double", base_addresses={"api": URL}, max_network_retries=0).v1
checkout = {
    "mode": "payment",
    "client_reference_id": "order",
    "metadata": {"order": "1"},
    "payment_intent_data": {"metadata": {"order": "1"}, "setup_future_usage": "off_session"},
    "line_items": [
        {
            "quantity": 1,
            "price_data": {
                "currency": "usd",
                "unit_amount": 2500,
                "product_data": {"name": "Credit"},
                "tax_behavior": "exclusive",
            },
        }
    ],
    "success_url": "https://example.com/",
    "cancel_url": "https://example.com/",
    "customer_creation": "always",
    "adaptive_pricing": {"enabled": False},
}
options = {"idempotency_key": "one"}
session = client.checkout.sessions.create(checkout, options=options)
assert client.checkout.sessions.create(checkout, options=options).id == session.id
try:
    client.checkout.sessions.create({**checkout, "metadata": {}}, options=options)
    raise AssertionError("other parameters under the same key")
except stripe.IdempotencyError:
    pass
try:
    client.checkout.sessions.create({**checkout, "surprise": "1"})
    raise AssertionError("an unknown parameter")
except stripe.InvalidRequestError as error:
    assert error.code == "parameter_unknown"

control(f"sessions/{session.id}/pay", kind="card")
session = client.checkout.sessions.retrieve(session.id)
intent = client.payment_intents.retrieve(session.payment_intent)
assert (intent.status, intent.amount_received) == ("succeeded", 2500)
assert intent.metadata["order"] == "1"
charge = client.charges.retrieve(intent.latest_charge)
assert charge.payment_intent == intent.id

refund = client.refunds.create({"payment_intent": intent.id, "amount": 700})
client.refunds.create({"payment_intent": intent.id, "amount": 100})
control(f"refunds/{refund.id}/fail")
pages = client.refunds.list({"payment_intent": intent.id, "limit": 1}).auto_paging_iter()
assert [(it.amount, it.status) for it in pages] == [(100, "succeeded"), (700, "failed")]

control(f"intents/{intent.id}/dispute", amount=500)
dispute = client.disputes.list({"payment_intent": intent.id}).data[0]
assert dispute.balance_transactions[0].amount == -500
control(f"disputes/{dispute.id}/win")
assert client.disputes.retrieve(dispute.id).status == "won"
control(f"intents/{intent.id}/warn")
assert client.radar.early_fraud_warnings.list({"payment_intent": intent.id}).data

declined = {
    "amount": 500,
    "currency": "usd",
    "customer": intent.customer,
    "payment_method": "pm_card_declined",
    "off_session": True,
    "confirm": True,
}
try:
    client.payment_intents.create(declined)
    raise AssertionError("a declined card")
except stripe.CardError as error:
    assert error.code == "card_declined"
assert client.billing_portal.sessions.create({"customer": intent.customer}).url
assert client.customers.delete(intent.customer).deleted

listed = [it.id for it in client.events.list({"limit": 3}).auto_paging_iter()]
deadline = time.monotonic() + 10
while len(Receiver.events) < len(listed) and time.monotonic() < deadline:
    time.sleep(0.05)
assert sorted(it.id for it in Receiver.events) == sorted(listed), "each event is delivered"
print(f"{len(listed)} events, all signatures valid")
