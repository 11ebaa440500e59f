"""The payments side: Stripe's Checkout, payment intents, subscriptions and signed events, as far as they are used."""
