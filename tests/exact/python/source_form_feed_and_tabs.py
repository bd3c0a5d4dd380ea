# Form feeds and tabs.
