"""The payments side: the parts of Stripe's Checkout, payment intents, subscriptions and events that are used."""
