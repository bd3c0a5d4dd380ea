labels = {
    'yes': 'I can't wait',
}
print(labels)
