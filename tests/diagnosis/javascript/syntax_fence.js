```javascript
console.log("hi");
```
