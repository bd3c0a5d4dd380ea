local board = {}
for y = 1, 4 do
  for x = 1, 4 do
    board[y][x] = "."
  end
end
print(board[1][1])
